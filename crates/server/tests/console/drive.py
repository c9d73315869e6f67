#!/usr/bin/env python3
"""Drives the console in a real Chromium, as people use it, and takes its pictures.

    drive.py BINARY [--pictures DIR [--all]] [--files DIR]

BINARY is the example `console_demo` (built by `cargo nextest run --workspace`, in
`target/debug/examples`). Needs Chromium and PyPI's `playwright`; `cargo xtask test` installs both and runs this.
With --files the page's files come from DIR (`crates/server/src/console`) instead of the binary, to work on them.
"""

import argparse
import contextlib
import pathlib
import signal
import subprocess
import sys

from playwright.sync_api import Page, expect, sync_playwright

PASSWORD = "correct horse"
# Those that docs/console.md shows.
SHOWN = {"ask", "price", "refused", "dark", "phone-answer", "grants", "ledger-question"}
GROUPED = "SELECT disease, COUNT(*) AS n, AVG(cost) AS cost\nFROM visits\nGROUP BY disease\nORDER BY n DESC"


@contextlib.contextmanager
def served(binary: str):
    """The demonstration on a port of its own: its address."""
    process = subprocess.Popen([binary, "0"], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)  # it then clears up after itself
        process.wait()


class Driver:
    def __init__(self, browser, address, options):
        self.browser, self.address = browser, address
        self.pictures, self.all, self.files = options.pictures, options.all, options.files
        self.trouble = []

    def page(self, width=1280, height=860, dark=False) -> Page:
        scheme = "dark" if dark else "light"
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1)
        page = context.new_page()
        if self.files:
            page.route("**/console/*", lambda route: route.fulfill(path=self.files / route.request.url.rsplit("/", 1)[1]))
            page.route(self.address + "/", lambda route: route.fulfill(path=self.files / "index.html"))
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("console", self.heard)
        page.on("request", self.asked)
        page.goto(self.address)
        return page

    def heard(self, message):
        # A refusal is an answer to the console, and an error to the browser's log.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.trouble.append(message.text)

    def asked(self, request):
        if not request.url.startswith((self.address, "blob:")):
            self.trouble.append(f"asked of elsewhere: {request.url}")

    def sign_in(self, page, user="ana"):
        page.get_by_label("Name").fill(user)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator("#tabs")).to_be_visible()

    def picture(self, page, name, **options):
        if self.pictures and (self.all or name in SHOWN):
            page.wait_for_timeout(500)
            page.screenshot(path=self.pictures / f"console-{name}.png", **options)


def no_sideways(page, name):
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{name} scrolls sideways by {wide} pixels"


def analyst(driver):
    page = driver.page()
    # The door: a wrong password is told, and nothing is shown behind it.
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#door-problem")).to_contain_text("wrong")
    expect(page.locator("#top")).to_be_hidden()
    driver.picture(page, "door")
    driver.sign_in(page)

    # The price appears before anything is bought, and follows what is typed.
    price = page.locator("#price")
    expect(price).to_contain_text("ε 0.5")
    expect(price).to_contain_text("In plain words")
    page.get_by_label("How much").fill("0.2")
    expect(price).to_contain_text("ε 0.2")
    expect(page.locator("#run")).to_have_text("Run for ε 0.2")
    expect(page.locator(".budget")).to_contain_text("ε 3 left")

    # What may not be asked is refused while it is typed, with a remedy.
    sql = page.get_by_label("SQL")
    sql.fill("SELECT * FROM patients")
    expect(price.locator(".problem .hint")).to_be_visible()
    driver.picture(page, "refused")

    # Ctrl+Enter runs; the table has ±, the chart its error bars, the gauge has moved.
    sql.fill(GROUPED)
    page.get_by_label("How much").fill("1")
    expect(page.locator("#run")).to_have_text("Run for ε 1")
    driver.picture(page, "price")
    sql.focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer table")).to_contain_text("back pain")
    expect(page.locator("#answer table")).to_contain_text("±")
    expect(page.locator("#answer svg .bar")).to_have_count(8)
    expect(page.locator("#answer svg .whisker")).to_have_count(8)
    expect(page.locator(".budget")).to_contain_text("ε 2 left")
    expect(page.locator("#run")).to_have_text("Run, free")
    driver.picture(page, "ask", full_page=True)
    no_sideways(page, "ask")

    # The same question again is free.
    page.locator("#run").click()
    expect(page.locator("#answer")).to_contain_text("bought before")

    # One number, large.
    sql.fill("SELECT COUNT(*) AS n FROM patients")
    page.get_by_label("How much").fill("0.5")
    expect(page.locator("#run")).to_have_text("Run for ε 0.5")
    page.locator("#run").click()
    expect(page.locator("#answer .single")).to_contain_text("±")
    driver.picture(page, "count")

    # A median has an interval in units of its column.
    sql.fill("SELECT MEDIAN(age) AS m FROM patients")
    page.get_by_label("How much").fill("0.1")
    expect(page.locator("#run")).to_have_text("Run for ε 0.1")
    page.locator("#run").click()
    expect(page.locator("#answer")).to_contain_text("95 % interval:")
    expect(page.locator("#answer")).not_to_contain_text("null")

    # More than is left is refused, before and after.
    page.get_by_label("How much").fill("9")
    expect(price).to_contain_text("would be refused")
    page.locator("#run").click()
    expect(page.locator("#answer h2")).to_have_text("Refused")
    expect(page.locator("#answer")).to_contain_text("nothing was spent")
    expect(page.locator(".budget")).to_contain_text("ε 1.4 left")
    driver.picture(page, "over-budget")

    # The ledger, by keyboard alone.
    page.locator("#tabs a", has_text="Ledger").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".view.ledger table")).to_contain_text("debit")

    # It shows what was asked, as it was written, and what came of it.
    asked = page.locator("tr", has_text="SELECT disease, COUNT(*) AS n")
    expect(asked).to_contain_text("answered")
    expect(asked).to_contain_text("ε 1")
    asked.locator("summary").click()
    expect(asked.locator("pre")).to_have_text(GROUPED)
    driver.picture(page, "ledger-question")
    # The question goes back into the editor with its settings: it was bought, so it is free.
    asked.get_by_role("button", name="again").click()
    expect(page.get_by_label("SQL")).to_have_value(GROUPED)
    expect(page.get_by_label("How much")).to_have_value("1")
    expect(page.locator("#run")).to_have_text("Run, free")
    page.locator("#run").click()
    expect(page.locator("#answer")).to_contain_text("bought before")
    assert page.locator("#tabs a").count() == 2, "an analyst has two views"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.context.close()


def keyboard(driver):
    """From the door to an answer without a mouse; the focus is always to be seen."""
    page = driver.page()
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#tabs")).to_be_visible()
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.slice(0, 20)"))
        if seen[-1] == "run":
            break
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none' || document.activeElement.id === 'sql'")
        assert ring, f"no focus to be seen on {seen[-1]}"
    assert "sql" in seen and seen[-1] == "run", seen
    page.keyboard.press("Enter")
    expect(page.locator("#answer table")).to_contain_text("back pain")
    page.context.close()


def dark(driver):
    page = driver.page(dark=True)
    driver.sign_in(page)
    paper = "getComputedStyle(document.body).backgroundColor"
    night = page.evaluate(paper)
    page.get_by_label("SQL").fill(GROUPED)
    page.get_by_label("How much").fill("1")
    expect(page.locator("#run")).to_have_text("Run, free")
    page.locator("#run").click()
    expect(page.locator("#answer svg .bar")).to_have_count(8)
    driver.picture(page, "dark")
    page.locator("#theme").click()
    assert page.evaluate(paper) != night, "the toggle changes the theme"
    page.reload()
    expect(page.locator("#tabs")).to_be_visible()
    assert page.evaluate(paper) != night, "and it is remembered"
    page.context.close()


def phone(driver):
    page = driver.page(width=390, height=844)
    driver.sign_in(page)
    page.get_by_label("SQL").fill(GROUPED)
    page.get_by_label("How much").fill("1")
    expect(page.locator("#run")).to_have_text("Run, free")
    driver.picture(page, "phone")
    page.locator("#run").click()
    expect(page.locator("#answer svg")).to_be_visible()
    page.locator("#answer").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#answer').scrollIntoView()")
    no_sideways(page, "ask on a phone")
    driver.picture(page, "phone-answer")
    page.locator("#tabs a", has_text="Ledger").click()
    expect(page.locator(".view.ledger table")).to_be_visible()
    no_sideways(page, "ledger on a phone")
    page.set_viewport_size({"width": 360, "height": 740})
    no_sideways(page, "360 pixels")
    page.context.close()


def steward(driver):
    page = driver.page()
    driver.sign_in(page, "sam")
    for view in ["Ledger", "Policy", "Analysts", "Grants", "Audit"]:
        page.locator("#tabs a", has_text=view).click()
        expect(page.locator(f".view.{view.lower()} h1")).to_have_text(view)
        no_sideways(page, view)
        if view == "Analysts":
            add = page.locator("form", has_text="Role")
            add.get_by_label("Name").fill("eve")
            add.get_by_label("Password").fill("another long one")
            add.get_by_role("button", name="Add").click()
            row = page.locator("tr", has_text="eve")
            expect(row).to_contain_text("enabled")
            row.get_by_role("button", name="Disable").click()
            row.get_by_role("button", name="Really disable?").click()
            expect(page.locator("tr", has_text="eve")).to_contain_text("disabled")
        if view == "Grants":
            grant = page.locator("form", has_text="Analyst or @group")
            grant.get_by_label("Analyst or @group").fill("ana")
            grant.get_by_label("ε").fill("2")
            grant.get_by_role("button", name="Grant").click()
            expect(page.locator(".limit")).to_contain_text("ana")
            page.get_by_label("Why").fill("audit of June")
            page.get_by_role("button", name="Freeze all spending").click()
            expect(page.locator(".view.grants")).to_contain_text("Frozen by sam: audit of June")
            page.get_by_role("button", name="Unfreeze").click()
            expect(page.get_by_role("button", name="Freeze all spending")).to_be_visible()
        driver.picture(page, view.lower())
    page.set_viewport_size({"width": 390, "height": 844})
    for view in ["Policy", "Analysts", "Grants", "Audit"]:
        page.locator("#tabs a", has_text=view).click()
        expect(page.locator(f".view.{view.lower()} h1")).to_have_text(view)
        no_sideways(page, f"{view} on a phone")
    page.context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--files", type=pathlib.Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=15_000)
    with served(options.binary) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        driver = Driver(browser, address, options)
        for part in [analyst, keyboard, dark, phone, steward]:
            part(driver)
            print(f"ok {part.__name__}", flush=True)
        browser.close()
        if driver.trouble:
            sys.exit("\n".join(driver.trouble))


if __name__ == "__main__":
    main()
