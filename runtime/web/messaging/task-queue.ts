import { currentDispatch } from '../ask.ts'
import { createTable, NativePromise, reflectApply, whenSettled } from '../primordials.ts'

type SetTimer = (callback: () => void, delayMs: number) => unknown

let setTimer: SetTimer | undefined
/** By dispatch: what one has queued is run on its behalf, and ends with it. */
const queues = createTable<(() => void)[]>()

/** Names the timers of this isolate, which are what wakes it for a task. */
export const queueTasksWith = (timers: { setTimeout: SetTimer }): void => {
  setTimer = timers.setTimeout
}

/**
 * HTML standard, "queue a task", for the messages of ports. One timer stands for all that a dispatch has queued when it
 * goes off: an isolate has a limited number of them.
 */
export const queueTask = (task: () => void): void => {
  const dispatch = currentDispatch()
  const queue = queues[dispatch]
  if (queue !== undefined) {
    queue[queue.length] = task
    return
  }
  queues[dispatch] = [task]
  setTimer?.(() => runTasks(dispatch), 0)
}

const runTasks = (dispatch: number): void => {
  const due = queues[dispatch] ?? []
  delete queues[dispatch]
  let next = 0
  const step = (): void => {
    const task = due[next]
    next += 1
    if (task === undefined) return
    // Between two tasks the microtasks of the first have their turn.
    if (next < due.length) whenSettled(NativePromise.resolve(), step, step)
    reflectApply(task, undefined, [])
  }
  step()
}
