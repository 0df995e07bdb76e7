import { bundlePrelude } from '../../../bundle/build-prelude.ts'
import { buildProcessCode } from '../../../bundle/build-process-code.ts'
import type { Settings } from '../../../config/load-settings.ts'
import { makeSnapshot } from '../../../sandbox/platform/make-snapshot.ts'
import { createTryLoad } from '../../../sandbox/try-load.ts'
import { reachWall } from '../../../sandbox/wall/reach-wall.ts'
import { limitsOf } from '../../../start/start-sandboxes.ts'
import type { TryLoad } from '../../../versions/try-version.ts'

/**
 * Loads scripts behind the same wall as a server, without one. Nothing is kept: DATA_DIR may belong to another user.
 *
 * @throws AnnexError `sandbox_unavailable`
 */
export async function openTrial(settings: Settings): Promise<TryLoad> {
  const [code, prelude] = await Promise.all([buildProcessCode(), bundlePrelude()])
  const { enclosure } = await reachWall(code.probe, settings.SANDBOX_REQUIRE)
  const snapshot = await makeSnapshot({ enclosure, code: code.snapshotMaker }, prelude)
  return createTryLoad({
    platform: snapshot === undefined ? { text: prelude } : { body: snapshot },
    limits: limitsOf(settings),
    start: { enclosure, code: code.main },
  })
}
