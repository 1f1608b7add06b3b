"""What is run inside a page, in a world of its own: the page's scripts can neither see nor change it."""

from __future__ import annotations

LOOK = """
(function () {
  const body = document.body;
  return {
    loaded: document.readyState !== 'loading',
    chars: body ? body.innerText.replace(/\\s+/g, ' ').length : 0,
    elements: document.getElementsByTagName('*').length,
    url: location.href,
  };
})()
"""
"""How much there is to see, and whether the markup is read."""

OUTLINE = """
(function () {
  const text = document.body ? document.body.innerText.replace(/\\s+/g, ' ').trim() : '';
  const heading = document.querySelector('h1, h2');
  const marks = document.querySelectorAll('script[src], iframe[src], form[action], [id], [class*="captcha"]');
  return {
    title: String(document.title).slice(0, 300),
    heading: heading ? heading.innerText.slice(0, 300) : '',
    chars: text.length,
    text: text.slice(0, 2000),
    marks: Array.from(marks).slice(0, 400).map(
      (e) => (e.getAttribute('src') || e.getAttribute('action') || '').slice(0, 200) + ' ' +
        e.id.slice(0, 60) + ' ' + String(e.getAttribute('class') || '').slice(0, 60)
    ).join('\\n'),
  };
})()
"""
"""Enough of the page to tell it from a wall."""

# One document out of all that a reader sees: open shadow trees with their slots filled, and frames of the
# same site, in their places. The copy lives in a document without a window: nothing in it runs or loads.
SERIALISE = """
(function (most) {
  const inert = document.implementation.createHTMLDocument('');
  const GONE = new Set(
    ['template', 'noscript', 'svg', 'canvas', 'video', 'audio', 'object', 'embed', 'link']);
  const DEEPEST = 400;
  let left = 300000;

  function sheet(element) {
    if (element.textContent.trim() || !element.sheet) return element.textContent;
    let rules = '';  // what scripts put there does not show in the markup
    try {
      for (const rule of element.sheet.cssRules) {
        rules += rule.cssText + '\\n';
        if (rules.length > 200000) break;
      }
    } catch (e) { /* another origin's */ }
    return rules;
  }

  function children(node, depth, frames) {
    const made = inert.createDocumentFragment();
    for (const child of node) {
      const copy = flat(child, depth + 1, frames);
      if (copy) made.appendChild(copy);
    }
    return made;
  }

  function frame(element, depth, frames) {
    let inside = null;
    try { inside = element.contentDocument; } catch (e) { return null; }
    if (!inside || !inside.body || frames > 1) return null;
    const box = element.getBoundingClientRect();
    if (box.width < 50 || box.height < 50) return null;
    const made = inert.createElement('div');
    made.appendChild(children(inside.body.childNodes, depth, frames + 1));
    return made;
  }

  function flat(node, depth, frames) {
    if (--left < 0) return null;
    if (node.nodeType === Node.TEXT_NODE) return inert.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE) return null;
    const name = node.localName;
    if (GONE.has(name)) return null;
    if (name === 'script') {
      const kind = (node.getAttribute('type') || '').toLowerCase();
      if (!kind.endsWith('json') && node.id !== '__NEXT_DATA__') return null;
    }
    if (name === 'iframe') return frame(node, depth, frames);
    if (depth > DEEPEST) return inert.createTextNode(node.textContent);
    if (name === 'slot' && node.getRootNode() instanceof ShadowRoot) {
      const given = node.assignedNodes({flatten: true});
      return children(given.length ? given : node.childNodes, depth, frames);
    }
    const copy = inert.importNode(node, false);
    if (name === 'style') {
      copy.textContent = sheet(node);
    } else if (name === 'meta' && node.hasAttribute('charset')) {
      copy.setAttribute('charset', 'utf-8');
    } else if (name === 'meta' && /^(content-type|refresh)$/i.test(node.getAttribute('http-equiv') || '')) {
      return null;
    } else {
      const within = node.shadowRoot ? node.shadowRoot.childNodes : node.childNodes;
      copy.appendChild(children(within, depth, frames));
    }
    return copy;
  }

  const root = flat(document.documentElement, 0, 0);
  const html = '<!doctype html>\\n' + (root ? root.outerHTML : '');
  return html.length > most ? {size: html.length, html: ''} : {size: html.length, html: html};
})(%d)
"""
"""The page as it stands, as one string of at most so many characters (``%d``)."""
