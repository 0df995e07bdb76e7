import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { withInitialValues } from './bindings.ts'
import { type Action, type ComponentLevel, type Question, renderComponent } from './render.ts'
import { type Fields, limitTree, type Note } from './tree.ts'

/** What a component shows: its tree, with the state and the properties behind it. */
export type Shown = { tree: unknown; state: Fields; props: Fields; pictures: Fields; notes: Note[] }

export type Running = {
  shown?: Shown | undefined
  error?: unknown
  /** The action that failed, or undefined for a first render. */
  failed?: Action | undefined
  isBusy: boolean
  /** As a handler needs it: the tree may be older by one change. */
  now: () => Shown | undefined
  act: (action: Action) => void
  set: (values: Fields) => void
  /** Renders it with other properties, which the block around keeps. */
  update: (props: Fields) => void
  note: (note: Note) => void
  /** Runs again what failed. */
  retry: () => void
  restart: () => void
}

export type Given = Pick<Question, 'componentId' | 'props' | 'context'>
type Told = {
  onProps?: ((props: Fields) => void) | undefined
  onComplete?: ((value: unknown) => void) | undefined
  onAction?: (() => void) | undefined
}

/** Actions that may wait for those before them. */
const maxWaiting = 20

/**
 * Renders a component, keeps its state, and sends actions one after the other. What a person changes while an action runs is
 * newer than its answer.
 */
export function useComponent(
  of: ComponentLevel,
  given: Given,
  isKnown: (type: string) => boolean,
  told: Told,
): Running {
  const [view, setView] = useState<Pick<Running, 'shown' | 'error' | 'failed' | 'isBusy'>>({ isBusy: true })
  const [turn, setTurn] = useState(0)
  const latest = useRef({ of, given, told })
  latest.current = { of, given, told }
  const shown = useRef<Shown>(undefined)
  const edited = useRef<Fields>({})
  const waiting = useRef<(Action | undefined)[]>([])
  const stop = useRef<AbortController>(undefined)

  const show = (next: Shown) => {
    shown.current = next
    setView((before) => ({ ...before, shown: next }))
  }

  /** Asks for what waits, until nothing waits or something failed. */
  const run = useCallback(async (signal: AbortSignal) => {
    while (waiting.current.length > 0) {
      const [action] = waiting.current
      setView(({ shown }) => ({ shown, isBusy: true }))
      edited.current = {}
      const { of, given, told } = latest.current
      const { state, props = given.props } = shown.current ?? {}
      try {
        const asked = renderComponent(of, { ...given, props, state, action }, signal)
        // The script may have stored something before it failed.
        const rendered = await asked.finally(() => action && !signal.aborted && told.onAction?.())
        if (signal.aborted) return
        waiting.current.shift()
        if (rendered.type === 'complete') {
          waiting.current = []
          setView(({ shown }) => ({ shown, isBusy: false }))
          told.onComplete?.(rendered.returnValue)
          return
        }
        const { tree, notes } = limitTree(rendered.element, isKnown)
        const next = { ...withInitialValues(rendered.state, tree), ...edited.current }
        const kept = shown.current?.notes.filter(({ kind }) => kind === 'too-fast') ?? []
        show({
          tree,
          notes: [...notes, ...kept],
          state: next,
          props: rendered.props,
          pictures: rendered.pictures ?? {},
        })
        if (action !== undefined && !isSame(rendered.props, props)) told.onProps?.(rendered.props)
      } catch (error) {
        if (signal.aborted) return
        waiting.current = []
        setView(({ shown }) => ({ shown, error, failed: action, isBusy: false }))
        return
      }
    }
    setView(({ shown }) => ({ shown, isBusy: false }))
  }, [])

  const { integration, installation, level } = of
  const { componentId, context } = given
  const key = JSON.stringify([integration, installation, level, componentId, context, turn])
  // Before the page is painted: one that has ended shows nothing of the run before, and the request does not wait.
  useLayoutEffect(() => {
    const controller = new AbortController()
    stop.current = controller
    shown.current = undefined
    waiting.current = [undefined]
    setView({ isBusy: true })
    void run(controller.signal)
    return () => controller.abort()
  }, [key])

  const add = (action: Action | undefined): boolean => {
    if (waiting.current.length >= maxWaiting) return false
    waiting.current.push(action)
    if (waiting.current.length === 1 && stop.current) void run(stop.current.signal)
    return true
  }

  // Other properties from outside: the state stays.
  const props = JSON.stringify(given.props)
  const drawn = useRef(props)
  useLayoutEffect(() => {
    if (drawn.current === props) return
    drawn.current = props
    const { current } = shown
    if (current === undefined || isSame(current.props, given.props)) return
    shown.current = { ...current, props: given.props }
    add(undefined)
  }, [props])

  const note = (added: Note) => {
    const { current } = shown
    if (current === undefined || current.notes.some((one) => isSame(one, added))) return
    show({ ...current, notes: [...current.notes, added] })
  }
  return {
    ...view,
    now: () => shown.current,
    act: (action) => {
      if (!add(action)) note({ kind: 'too-fast' })
    },
    set: (values) => {
      const { current } = shown
      if (current === undefined) return
      edited.current = { ...edited.current, ...values }
      show({ ...current, state: { ...current.state, ...values } })
    },
    update: (changed) => {
      const { current } = shown
      if (current === undefined || isSame(current.props, changed)) return
      shown.current = { ...current, props: changed }
      latest.current.told.onProps?.(changed)
      add(undefined)
    },
    note,
    retry: () => (view.shown === undefined ? setTurn(turn + 1) : add(view.failed)),
    restart: () => setTurn((before) => before + 1),
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
