import { createInterface } from 'node:readline/promises'

/**
 * Asks a question on the terminal.
 *
 * @param fallback taken when the answer is empty
 * @returns `undefined` where there is no terminal: a flag has to say it then
 */
export async function ask(question: string, fallback: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  // On stderr: stdout is for data.
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(`${question} [${fallback}] `)).trim() || fallback
  } finally {
    asking.close()
  }
}

/** Asks for a yes or a no. @returns `undefined` as `ask` does */
export async function confirm(question: string): Promise<boolean | undefined> {
  const answer = await ask(question, 'y/N')
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer)
}
