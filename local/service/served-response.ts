/** A response before it is written to the connection. */
export interface ServedResponse {
  readonly status: number;
  /** JSON text; "" for statuses that have no body. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly replayed?: boolean;
}
