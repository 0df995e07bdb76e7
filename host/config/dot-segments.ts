/**
 * One server resolves what another leaves as it is: it may decode an encoded separator or decode twice, take a backslash
 * for a slash, or drop a segment's parameters. Each of them could take `/x/one/..%2ftwo` for `/x/two`, and keep the answer
 * of one as that of the other. Clients resolve dots before they send a path, so only an attack has them.
 */
const separator = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`
const dot = String.raw`(?:\.|%(?:25)*2e)`
const parameters = '(?:;|%(?:25)*3b)'
const dotSegment = new RegExp(`(?:^|${separator})${dot}{1,2}(?:$|${separator}|${parameters})`, 'i')

/** Whether a URL's path has `.` or `..` between separators, however any of them is written. */
export const hasDotSegments = (path: string): boolean => dotSegment.test(path)
