// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * Content in the space was modified.
 */
export interface PublishedSpaceContentUpdatedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId?: string
  /**
   * Kind of the event.
   */
  type: 'space_content_updated'
  /**
   * The space.
   */
  spaceId: string
  /**
   * The revision that the change made.
   */
  revisionId: string
  /**
   * The authors of the change. Extension.
   *
   * @maxItems 100
   *
   * Items: An author: a user, an integration or the host.
   */
  updatedBy?: {
    /**
     * The kind of the author.
     */
    type: 'user' | 'integration' | 'host'
    /**
     * Its identifier.
     */
    id: string
    /**
     * The name that people read.
     */
    displayName?: string
    /**
     * Address of a user.
     */
    email?: string
  }[]
}

/**
 * A visitor opened a page of the site.
 */
export interface PublishedSiteViewEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId?: string
  /**
   * Kind of the event.
   */
  type: 'site_view'
  /**
   * The site.
   */
  siteId: string
  /**
   * The space of the page. Extension.
   */
  spaceId?: string
  /**
   * The page. Extension.
   */
  pageId?: string
  /**
   * The visitor of the page.
   */
  visitor: {
    /**
     * Identifier of the visitor that names no person.
     */
    anonymousId: string
    /**
     * User agent of the browser.
     */
    userAgent: string
    /**
     * Address of the visitor.
     */
    ip: string
    /**
     * Cookies by name; may be empty.
     */
    cookies: {
      /**
       * Value of the cookie.
       */
      [k: string]: string
    }
    /**
     * Language of the browser, such as `en-GB`. Extension.
     */
    language?: string
  }
  /**
   * Absolute address of the visited page, http or https.
   */
  url: string
  /**
   * Address from which the visitor came; empty or absent when there is none.
   */
  referrer?: string
}

/**
 * A visitor gave feedback on a page.
 */
export interface PublishedPageFeedbackEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId?: string
  /**
   * Kind of the event.
   */
  type: 'page_feedback'
  /**
   * The site.
   */
  siteId: string
  /**
   * The space of the page; absent for a page that is no page of a space.
   */
  spaceId?: string
  /**
   * The page: its id in the space, or its path on the site.
   */
  pageId: string
  /**
   * The feedback.
   */
  feedback: {
    /**
     * The rating, such as `good`. Values are not fixed: any word of up to 50 characters.
     */
    rating: string
    /**
     * The text that the visitor wrote; may be empty.
     */
    comment?: string
  }
  /**
   * The visitor of the page.
   */
  visitor: {
    /**
     * Identifier of the visitor that names no person.
     */
    anonymousId: string
    /**
     * User agent of the browser.
     */
    userAgent: string
    /**
     * Address of the visitor.
     */
    ip: string
    /**
     * Cookies by name; may be empty.
     */
    cookies: {
      /**
       * Value of the cookie.
       */
      [k: string]: string
    }
    /**
     * Language of the browser, such as `en-GB`. Extension.
     */
    language?: string
  }
  /**
   * Absolute address of the visited page, http or https.
   */
  url: string
  /**
   * Address from which the visitor came; empty or absent when there is none.
   */
  referrer?: string
}
