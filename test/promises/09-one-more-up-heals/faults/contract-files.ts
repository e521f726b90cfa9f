import { type Contract, defineContract } from "../../../../sdk/contract/index.ts";
import { getOrMake } from "../../../../sdk/get-or-make.ts";
import { contractFileOf } from "../../../support/stack/service.ts";
import { hurried, type MatrixContract } from "./scenarios.ts";

interface ContractFiles {
  readonly contract: Contract;
  /** The path of the contract's file. */
  readonly file: string;
  /** The same contract with short timeouts. */
  readonly hurriedFile: string;
  /** The contract before it changes. */
  readonly fileBefore: string;
}

const made = new Map<MatrixContract, ContractFiles>();

/** A contract and its files. All cells share them: to write them for each cell took 6 % of the time. */
export function filesOf(matrixContract: MatrixContract): ContractFiles {
  return getOrMake(made, matrixContract, () => {
    const { contract } = matrixContract;
    const hurriedFile = contractFileOf({ ...contract, limits: { ...contract.limits, ...hurried } });
    const file = contractFileOf(contract);
    const isToLearn = matrixContract.change === "contract";
    const fileBefore = isToLearn ? contractFileOf({ ...contract, rule: { ...contract.rule, owner: null } }) : file;
    return { contract: defineContract(contract), file, hurriedFile, fileBefore };
  });
}
