/** An answer before it is written to the connection. */
export interface Answer {
  readonly status: number;
  /** JSON text, or nothing for statuses that have no body. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly replayed?: boolean;
}
