import { Fragment, type FunctionComponent } from 'preact'
import { Card, Hint } from './card.tsx'
import { CodeBlock } from './code.tsx'
import { Button, Checkbox, Input, Radio, Switch, TextInput } from './controls.tsx'
import { Frame } from './frame.tsx'
import { Block, Box, Configuration, Divider, HStack, Spacer, VStack } from './layout.tsx'
import { MarkdownText } from './markdown-text.tsx'
import { Modal } from './modal.tsx'
import { Select } from './select.tsx'
import { Step, Stepper } from './stepper.tsx'
import { Image, Link, Text } from './text.tsx'
import { isElement } from './tree.ts'
import type { Draw, View } from './view.ts'

/** All elements of the SDK (`runtime/sdk/ui/elements.ts`), each with the function that draws it. */
const elements: Readonly<Record<string, FunctionComponent<Draw>>> = {
  block: Block,
  configuration: Configuration,
  modal: Modal,
  vstack: VStack,
  hstack: HStack,
  box: Box,
  spacer: Spacer,
  divider: Divider,
  text: Text,
  markdown: MarkdownText,
  link: Link,
  image: Image,
  card: Card,
  hint: Hint,
  button: Button,
  input: Input,
  textinput: TextInput,
  select: Select,
  switch: Switch,
  radio: Radio,
  checkbox: Checkbox,
  codeblock: CodeBlock,
  stepper: Stepper,
  step: Step,
  webframe: Frame,
}

/** True for an own name of the table: `constructor` is no element. */
export const isKnown = (type: string): boolean => Object.hasOwn(elements, type)

/** An element, a text, or a list of them. All other values are nothing. */
export function Content({ content, view }: { content: unknown; view: View }) {
  if (typeof content === 'string' || typeof content === 'number') return <>{content}</>
  if (Array.isArray(content)) {
    return (
      <>
        {content.map((one, index) => (
          <Fragment key={keyOf(one) ?? index}>
            <Content content={one} view={view} />
          </Fragment>
        ))}
      </>
    )
  }
  if (!isElement(content)) return null
  const Drawn = isKnown(content.type) ? elements[content.type] : undefined
  return Drawn === undefined ? null : <Drawn element={content} view={view} />
}

/** A key of the script, apart from numbers of positions. */
function keyOf(value: unknown): string | undefined {
  const key = isElement(value) ? value.key : undefined
  return typeof key === 'string' || typeof key === 'number' ? `key ${key}` : undefined
}
