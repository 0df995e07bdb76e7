// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { MarkdownTree } from './common.ts'

/**
 * A Markdown text.
 */
export interface MarkdownText {
  text: string
}

/**
 * A Markdown text as elements.
 */
export interface DrawnMarkdown {
  object: 'markdown'
  tree: MarkdownTree
}

export interface MarkdownOperations {
  drawMarkdown: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: object
    body: MarkdownText
    answer: DrawnMarkdown
  }
}
