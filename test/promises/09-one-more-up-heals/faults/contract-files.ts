import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contract, defineContract } from "../../../../sdk/contract/index.ts";
import { getOrMake } from "../../../../sdk/get-or-make.ts";
import { newFolder } from "../../../support/folder.ts";
import { hurried, type MatrixContract } from "./scenarios.ts";

interface ContractFiles {
  readonly folder: string;
  readonly contract: Contract;
  /** The path of the contract's file. */
  readonly file: string;
  /** The same contract with short timeouts. */
  readonly hurriedFile: string;
}

const made = new Map<MatrixContract, ContractFiles>();

/** A contract and its files. All cells share them: to write them for each cell took 6 % of the time. */
export function filesOf(matrixContract: MatrixContract): ContractFiles {
  return getOrMake(made, matrixContract, () => {
    const { contract } = matrixContract;
    const folder = newFolder();
    const [file, hurriedFile] = [join(folder, "contract.json"), join(folder, "hurried.json")];
    writeFileSync(file, JSON.stringify(contract));
    writeFileSync(hurriedFile, JSON.stringify({ ...contract, limits: { ...contract.limits, ...hurried } }));
    return { folder, contract: defineContract(contract), file, hurriedFile };
  });
}

/** To be called when no cell of this process runs any more. */
export function removeFiles(): void {
  for (const { folder } of made.values()) rmSync(folder, { recursive: true });
  made.clear();
}
