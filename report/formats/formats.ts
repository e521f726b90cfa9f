/** The forms of a report, for commands that end with one, without the modules that write them. */
export const formats = ["text", "json", "markdown", "html", "junit"] as const;
export type Format = (typeof formats)[number];

/** The most characters that a comment on GitHub has; GitLab takes 1,000,000. */
export const mostOfComment = 65_536;
/** The smallest limit that leaves room for the heading, a warning and what is said of the rest. */
export const leastOfComment = 2_000;
