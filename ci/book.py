#!/usr/bin/env python3
"""Prepares the book for mdBook, and checks the pages that it makes.

Usage: book.py stage FOLDER   copies the pages, and what they link to, below FOLDER
       book.py check FOLDER   checks all links of the pages in FOLDER

The pages lie where their readers look for them, some next to the code. In the book they keep their places, so that
their links lead to the same things; a source file that a page links to becomes a page itself.
"""

import html.parser
import os
import re
import shutil
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONTENTS = "docs/SUMMARY.md"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
LANGUAGES = {".rs": "rust", ".py": "python", ".sh": "bash", ".toml": "toml", ".cff": "yaml", ".service": "ini", "": "text"}


def outside(link):
    return "://" in link or link.startswith("mailto:")


def page_of(path):
    """A path in the book: the page of a folder is its index."""
    folder, name = os.path.split(path)
    return os.path.join(folder, "index.md") if name == "README.md" else path


def resolve(page, link):
    """The path, from the root, to which a link of a page leads."""
    return os.path.normpath(os.path.join(os.path.dirname(page), link))


def stage(folder):
    source = os.path.join(folder, "src")
    with open(os.path.join(ROOT, CONTENTS)) as file:
        contents = file.read()
    pages = [resolve(CONTENTS, link) for _, link, _ in LINK.findall(contents) if link.endswith(".md")]
    listings, files = {}, set()

    def write(path, text):
        path = os.path.join(source, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def lead(page, link):
        """Where a link of a page leads in the book."""
        path, _, heading = link.partition("#")
        if outside(link) or not path:
            return link
        target = resolve(page, path)
        if target == CONTENTS:
            path = os.path.relpath("index.md", os.path.dirname(page) or ".")
        elif target in pages:
            path = page_of(path)
        else:
            if os.path.isdir(os.path.join(ROOT, target)):
                target += "/"
            if os.path.splitext(target)[1] in LANGUAGES:
                name = target.rstrip("/")
                listings[name] = f"{name}.md"
                path = path.rstrip("/") + ".md"
            else:
                files.add(target)
        return f"{path}#{heading}" if heading else path

    for page in pages:
        with open(os.path.join(ROOT, page)) as file:
            text = file.read()
        write(page_of(page), LINK.sub(lambda found: found[1] + lead(page, found[2]) + found[3], text))
    for path, listing in sorted(listings.items()):
        full = os.path.join(ROOT, path)
        name = os.path.basename(path)
        if os.path.isdir(full):
            lines = "".join(f"- {entry}\n" for entry in sorted(os.listdir(full)) if not entry.startswith((".", "__")))
            write(listing, f"# {name}\n\nThe files of `{path}`:\n\n{lines}")
        else:
            with open(full) as file:
                text = file.read()
            language = LANGUAGES[os.path.splitext(path)[1]]
            write(listing, f"# {name}\n\n`{path}`:\n\n~~~{language}\n{text}~~~\n")
    for path in files:
        target = os.path.join(source, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, path), target)

    # In the contents, links start from the root, and nothing but links counts.
    summary = ["# Summary"]
    for line in contents.splitlines()[1:]:
        found = LINK.search(line)
        if found:
            summary.append(line[: found.start(2)] + page_of(resolve(CONTENTS, found[2])) + ")")
        else:
            summary.append(line)
    summary += ["", "# Sources", ""]
    summary += [f"- [{path}]({listing})" for path, listing in sorted(listings.items())]
    write("SUMMARY.md", "\n".join(summary) + "\n")
    shutil.copyfile(os.path.join(ROOT, "book.toml"), os.path.join(folder, "book.toml"))


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.names.add(value)
            elif (tag, key) in [("a", "href"), ("img", "src"), ("link", "href"), ("script", "src")] and value:
                self.links.append(value)


def check(folder):
    places = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".html")]
    # Links start from the root in fragments that mdBook fills in, and on the page that a server shows for missing ones.
    pages = {path: Page(path) for path in places if os.path.basename(path) not in ["toc.html", "404.html"]}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme or link.startswith("//"):
                continue
            target = path
            if address.path:
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(address.path)))
            name = urllib.parse.unquote(address.fragment)
            if not os.path.isfile(target) or (name and target in pages and name not in pages[target].names):
                wrong.append(f"{os.path.relpath(path, folder)}: {link}")
    if len(pages) < 20:
        wrong.append(f"only {len(pages)} pages")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(wrong)} lead nowhere")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ["stage", "check"]:
        sys.exit(__doc__.strip())
    (stage if sys.argv[1] == "stage" else check)(sys.argv[2])
