import { message } from '../../wire-kinds.ts'

const head = ['POST', 'http://a/', 'content-type', 'application/json'].join('\n')

/**
 * Boots a context and dispatches a request to a script that does next to nothing. V8 keeps the bytecode of what has run
 * so in the snapshot, and no isolate has to compile it before its first answer. The context itself is thrown away: the
 * snapshot's own has run nothing but the prelude.
 */
export const warmUp = `(() => {
  const { define, receive } = __annexBoot(() => {}, () => '', false)
  const answer = async (_event, _environment, request) => Response.json(await request.text())
  define((module) => { module.exports = { [Symbol.for('annex.dispatch')]: answer } })
  receive(${message.environment}, 1, 0, '{}')
  receive(${message.dispatch}, 1, 1, ${JSON.stringify(head)}, '{}')
})()`
