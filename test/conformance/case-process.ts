/** A process that runs cases, one after the other, for `run-wpt.ts`: one that crashes or hangs takes no other along. */
import { createPlatform } from '../runtime/guest.ts'
import type { Case } from './list-cases.ts'
import { runCase } from './run-case.ts'

const wptFolder = process.argv[2] ?? ''
const platform = await createPlatform()

process.on('message', async (given: Case) => {
  process.send?.({ subtests: await runCase(platform, wptFolder, given) })
})
// Some tests cause unhandled rejections on purpose.
process.on('unhandledRejection', () => undefined)
process.send?.({ ready: true })
