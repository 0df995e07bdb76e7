// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A name in an address: a subdomain or a slug.
 */
export type ShortName = string

/**
 * Where people see a site or space.
 */
export interface PlaceUrls {
  /**
   * Its page in Annex.
   */
  app: string
  /**
   * Where visitors read it. Absent while it is not published.
   */
  published?: string
  /**
   * The same as `published`.
   */
  public?: string
}

/**
 * One line of text.
 */
export type Title = string

/**
 * A time in UTC.
 */
export type Time = string

/**
 * Who may read it. Annex stores it for scripts and for sites.
 */
export type Visibility = 'private' | 'unlisted' | 'share-link' | 'visitor-auth' | 'public'

/**
 * Ids of the record on other platforms, unique in its organization. They are taken wherever an id is.
 *
 * @maxItems 20
 */
export type ExternalIds = string[]

/**
 * Settings by their names.
 */
export interface Configuration {
  [k: string]: unknown
}

/**
 * Markdown as elements and texts. It has no HTML, and no address but those of links and pictures.
 */
export type MarkdownTree = MarkdownNode[]

/**
 * A text, or an element.
 */
export type MarkdownNode =
  | string
  | {
      tag:
        | 'p'
        | 'h1'
        | 'h2'
        | 'h3'
        | 'h4'
        | 'h5'
        | 'h6'
        | 'blockquote'
        | 'ul'
        | 'ol'
        | 'li'
        | 'strong'
        | 'em'
        | 's'
        | 'a'
        | 'img'
        | 'br'
        | 'hr'
        | 'code'
        | 'pre'
        | 'table'
        | 'thead'
        | 'tbody'
        | 'tr'
        | 'th'
        | 'td'
        | 'block'
      /**
       * Of a link: http, https or mailto. Of an `img`: its own address, http or https.
       */
      href?: string
      /**
       * Of an `img`: where a page reads it from Annex. Without it the picture is not shown. Its child is its text.
       */
      src?: string
      /**
       * Of an `img` without an own address: the path of a file beside the text.
       */
      file?: string
      /**
       * Of a link without an own address: the path of a page beside this one, with or without `.md`.
       */
      page?: string
      /**
       * Of a `pre`: the language behind the fence.
       */
      language?: string
      /**
       * Of a `block`: the name of its integration.
       */
      integration?: string
      /**
       * Of a `block`: its id in the manifest.
       */
      block?: string
      /**
       * Of a `block`: its properties. Its child is its Markdown.
       */
      props?: {
        [k: string]: unknown
      }
      /**
       * Of a `block` or `pre` of a page: its first line, counted from 0, and the one behind its last.
       */
      lines?: number[]
      /**
       * The first number of a list.
       */
      start?: number
      children?: MarkdownNode[]
    }

/**
 * Where the next page begins. The last page has none.
 */
export interface NextPage {
  /**
   * The parameter `page` of the next page.
   */
  page: string
}
