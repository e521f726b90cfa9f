import type { RulesClient } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { FirstWrites } from "./first-writes.ts";
import type { Holders } from "./holders.ts";
import { Live } from "./live.ts";
import { type Answer, PlaceProof, type StandingOptions } from "./standing.ts";

/** The connection that reaches a place. */
export interface PlaceOptions extends StandingOptions {
  readonly contract: Contract;
  /** Values of the contract's parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The same as people may see them. */
  readonly shownParameters: Readonly<Record<string, string>>;
  readonly recover: Answer;
  /** Names that the stack had before, `project/stack`, by the user's word. */
  readonly formerNames: readonly string[];
  /** The variable that says such a name. */
  readonly howToNameFormer: string;
}

/**
 * One place where rules are: an address with its parameters and credentials. All resources of a run that reach it share
 * one reader, one proof that it is the right place, and one look after the first writes.
 */
export class Place {
  readonly options: PlaceOptions;
  readonly contract: Contract;
  readonly holders: Holders;
  readonly live: Live;
  readonly proof: PlaceProof;
  readonly firstWrites: FirstWrites;

  /** @param holders shared by all connections to this address with these parameters and credentials */
  constructor(
    options: PlaceOptions,
    holders: Holders,
    connect: () => Promise<RulesClient>,
    onListed?: (rules: number) => void,
  ) {
    this.options = options;
    this.contract = options.contract;
    this.holders = holders;
    this.live = new Live(options.contract, connect, onListed);
    this.proof = new PlaceProof(options, this.live, holders);
    this.firstWrites = new FirstWrites(this.live, holders);
  }
}
