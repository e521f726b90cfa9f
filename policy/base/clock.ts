let began: Date | undefined;

/**
 * Returns the time at which this function was first called in this run. The policy host lives as long as one preview or one
 * `up`, so all of its rules are judged by one moment, and an `up` that began in time is not stopped half-way.
 */
export function startOfRun(): Date {
  began ??= new Date();
  return began;
}
