import { Component, type ComponentChildren } from 'preact'
import { texts } from '../texts.ts'
import { ErrorNote } from './error-note.tsx'

/** A crash of one part shows its error in the place of the part, and the rest of the page works on. */
export class Boundary extends Component<{ children?: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  override componentDidCatch(error: unknown): void {
    this.setState({ error })
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <ErrorNote
        error={error}
        what={texts.partBroken}
        next={{ label: texts.showAgain, act: () => this.setState({ error: undefined }) }}
      />
    )
  }
}
