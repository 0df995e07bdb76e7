/** `quiet`: the changes have come to rest. `changing`: they go on. */
export type ChangeState = 'quiet' | 'changing'

export type AfterChanges = { note: () => void; cancel: () => void }

/**
 * Calls `run` once for changes that follow each other: when none was noted for `quietMs`, and at the latest `mostMs` after
 * the first, so that a file that is written for ever holds nothing back.
 */
export function afterChanges(
  run: (state: ChangeState) => void,
  { quietMs, mostMs }: { quietMs: number; mostMs: number },
): AfterChanges {
  let first: number | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    note() {
      const now = performance.now()
      first ??= now
      const left = first + mostMs - now
      clearTimeout(timer)
      timer = setTimeout(end, Math.max(0, Math.min(quietMs, left)), left > quietMs ? 'quiet' : 'changing')
    },
    cancel: () => clearTimeout(timer),
  }

  function end(state: ChangeState): void {
    first = undefined
    run(state)
  }
}
