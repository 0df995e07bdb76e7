import { NativePromise, reflectApply, whenSettled } from '../primordials.ts'

type SetTimer = (callback: () => void, delayMs: number) => unknown

let setTimer: SetTimer | undefined
let tasks: (() => void)[] = []

/** Names the timers of this isolate, which are what wakes it for a task. */
export const queueTasksWith = (timers: { setTimeout: SetTimer }): void => {
  setTimer = timers.setTimeout
}

/**
 * HTML standard, "queue a task", for the messages of ports. One timer stands for all that are queued when it is set:
 * an isolate has a limited number of them.
 */
export const queueTask = (task: () => void): void => {
  tasks[tasks.length] = task
  if (tasks.length === 1) setTimer?.(runTasks, 0)
}

const runTasks = (): void => {
  const due = tasks
  tasks = []
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
