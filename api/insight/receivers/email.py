"""Sends e-mail over SMTP: text, HTML and a chart; firing and resolved messages in one thread."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, unquote, urlsplit

from api.errors import ConfigurationError
from api.insight.receivers.kind import (
    LONGEST_RESPONSE,
    Answer,
    Field,
    Kind,
    Means,
    Message,
    headline_of,
    subject_of,
)
from api.metering.units import words_in
from api.settings import Settings
from api.telemetry.client_address import is_loopback
from api.timez import offset_ms, parse_instant, to_datetime, zone_or_utc

TIMEOUT_S: Final = 15.0
MOST_RECIPIENTS: Final = 50
PICTURE: Final = "chart"
_PORTS: Final = {"smtp": 587, "smtps": 465}
_ADDRESS: Final = re.compile(r"[^\s@<>,;:\"]{1,64}@[A-Za-z0-9.-]{1,190}", re.ASCII)


# --- Content -----------------------------------------------------------------------------------


def made(message: Message, sender: str, picture: bytes | None) -> EmailMessage:
    mail = EmailMessage()
    subject, first = " ".join(subject_of(message).split()), thread_id(message, sender)
    mail["Subject"] = subject if message.first else f"Re: {subject}"
    mail["From"] = sender
    mail["To"] = ", ".join(message.config["to"])
    mail["Date"] = datetime.now(UTC)
    mail["Auto-Submitted"] = "auto-generated"
    mail["Message-ID"] = first if message.first else f"<{message.row.id}@{_host(sender)}>"
    if not message.first:
        mail["In-Reply-To"] = mail["References"] = first
    if message.report is not None:
        return mail  # added by `reported`
    mail.set_content(plain_text(message))
    mail.add_alternative(html_text(message, picture is not None), subtype="html")
    if picture is not None:
        parts: Any = mail.get_payload()
        parts[1].add_related(picture, "image", "png", cid=f"<{PICTURE}>", filename="chart.png")
    return mail


def reported(mail: EmailMessage, message: Message, address: str, pdf: bytes) -> EmailMessage:
    """Composes a scheduled report: the PDF attached, and its address."""
    report: Mapping[str, Any] = message.report or {}
    title = f"{report['name']}: {report['period']}"
    mail.set_content(f"{title}\n\nThe report is attached. It is also here:\n{address}\n")
    html = (
        f"<div style='font-family:sans-serif;font-size:15px'><h2>{escape(title)}</h2>"
        f"<p>The report is attached. <a href='{escape(address)}'>Open it</a></p></div>"
    )
    mail.add_alternative(html, subtype="html")
    stem = re.sub(r"[^A-Za-z0-9]+", "-", report["name"]).strip("-").lower() or "report"
    filename = f"{stem}_{report['from']}_{report['to']}.pdf"
    mail.add_attachment(pdf, maintype="application", subtype="pdf", filename=filename)
    return mail


def thread_id(message: Message, sender: str) -> str:
    """Returns the Message-ID of the first mail of a thread, whichever process sends it and however
    often; each report is a thread of its own."""
    if message.report is not None:
        return f"<{message.row.id}@{_host(sender)}>"
    return f"<{message.row.thread}.{message.row.receiver_id}@{_host(sender)}>"


def _host(sender: str) -> str:
    return sender.rpartition("@")[2].rstrip(">")


def plain_text(message: Message, address: str = "") -> str:
    """``address``: of a report's PDF."""
    if message.report is not None:
        return f"{subject_of(message)}\n{address}"
    lines = [headline_of(message), ""]
    for alert in message.alerts:
        lines += [f"{alert['kind']} · {alert['label']} ({alert['serialNumber']})", alert["words"]]
        lines += [f"{name}: {value}" for name, value in facts(alert, message.units)]
        lines += [f"{message.site}/devices/{quote(alert['deviceId'], safe='')}", ""]
    if message.unlisted:
        lines += [f"And {message.unlisted} more.", ""]
    lines += [each for each in (message.body["note"], _rule(message)) if each]
    return "\n".join([*lines, f"{message.site}/alerts"])


def html_text(message: Message, has_picture: bool) -> str:
    parts = [f"<h2 style='margin:0 0 12px'>{escape(headline_of(message))}</h2>"]
    for alert in message.alerts:
        href = f"{message.site}/devices/{quote(alert['deviceId'], safe='')}"
        title = f"{alert['kind']} · {alert['label']}"
        rows = "".join(
            f"<tr><td style='padding:2px 16px 2px 0;color:#556'>{escape(name)}</td>"
            f"<td>{escape(value)}</td></tr>"
            for name, value in facts(alert, message.units)
        )
        parts.append(
            f"<p style='margin:0'><a href='{escape(href)}'><b>{escape(title)}</b></a></p>"
            f"<p style='margin:4px 0'>{escape(alert['words'])}</p><table>{rows}</table>"
        )
    if has_picture:
        parts.append(f"<p><img src='cid:{PICTURE}' alt='Chart' width='640'></p>")
    if message.unlisted:
        parts.append(f"<p>And {message.unlisted} more.</p>")
    notes = [each for each in (message.body["note"], _rule(message)) if each]
    parts.append(f"<p style='color:#556'>{escape(' '.join(notes))}</p>")
    parts.append(f"<p><a href='{escape(message.site)}/alerts'>Open alerts</a></p>")
    return f"<div style='font-family:sans-serif;font-size:15px'>{''.join(parts)}</div>"


def facts(alert: Mapping[str, Any], units: str) -> list[tuple[str, str]]:
    rows = [("Severity", str(alert["severity"])), ("Since", _when(alert, "startsAt"))]
    if alert["endsAt"]:
        rows.append(("Until", _when(alert, "endsAt")))
    if alert["value"] is not None:
        rows.append(("Value", words_in(f"{alert['value']:,.4g} {alert['unit']}", units)))
    if alert["costPerDay"]:
        rows.append(("Cost a day", f"{alert['costPerDay']:,.2f}"))
    return rows


def _when(alert: Mapping[str, Any], name: str) -> str:
    """Formats the device's local time, with its zone."""
    tz, at = zone_or_utc(alert["zone"]), parse_instant(alert[name])
    return f"{to_datetime(at + offset_ms(tz, at)):%a %d %b %Y, %H:%M} ({tz.key})"


def _rule(message: Message) -> str:
    name = message.body["rule"]["name"]
    return f"Rule: {name}." if name else ""


# --- Sending -------------------------------------------------------------------------------------


def send(message: Message, means: Means) -> Answer:
    settings = means.settings
    if reason := missing(settings):
        return Answer(False, reason, hopeless=True)
    mail = made(message, sender_of(settings), _picture(message, means))
    if message.report is not None:
        if means.paper is None:
            return Answer(False, "Reports can't be made by this process.", hopeless=True)
        reported(mail, message, message.report_address(means), means.paper(message.body))
    try:
        with _connected(settings) as server:
            refused = server.send_message(mail)
    except smtplib.SMTPRecipientsRefused as error:
        return Answer(False, _rejection(next(iter(error.recipients.values()))))
    except smtplib.SMTPResponseException as error:
        return Answer(False, _rejection((error.smtp_code, error.smtp_error)))
    except (smtplib.SMTPException, ssl.SSLError) as error:
        return Answer(False, f"The mail server refused it: {error}"[:LONGEST_RESPONSE])
    except TimeoutError:
        return Answer(False, "The mail server doesn't respond.")
    except OSError:
        return Answer(False, "The mail server can't be reached.")
    if refused:
        return Answer(True, f"Sent, but not to {', '.join(refused)}.")
    return Answer(True, f"The mail server accepted it for {', '.join(message.config['to'])}.")


def _picture(message: Message, means: Means) -> bytes | None:
    """Draws the first alert; None where that fails: a mail without a picture is better than
    none."""
    alerts = message.alerts
    if means.picture is None or not alerts:
        return None
    try:
        return means.picture({**alerts[0], "organizationId": message.row.organization_id})
    except Exception:  # noqa: BLE001
        return None


def _rejection(answer: tuple[int, bytes | str]) -> str:
    code, text = answer
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"The mail server responded {code} {words}"[:LONGEST_RESPONSE]


def _connected(settings: Settings) -> smtplib.SMTP:
    """Connects. A password is sent only over TLS, or to this machine."""
    url = urlsplit(settings.smtp_url)
    host, port = url.hostname or "", url.port or _PORTS[url.scheme]
    context = ssl.create_default_context()
    if url.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_S, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=TIMEOUT_S)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
        elif not is_loopback(host):
            server.close()
            raise smtplib.SMTPException("it offers no STARTTLS")
    if url.username:
        server.login(unquote(url.username), password_of(settings.smtp_password_file))
    return server


def password_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").rstrip("\r\n") if path else ""
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "is not text"
        raise ConfigurationError(f"WEIR_SMTP_PASSWORD_FILE: {path}: {problem}") from None


def sender_of(settings: Settings) -> str:
    return settings.alert_sender or f"weir@{urlsplit(settings.smtp_url).hostname}"


def check(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    to: Any = body.get("to")
    if isinstance(to, str):
        to = re.split(r"[\s,;]+", to.strip(" ,;"))
    listed = cast(list[Any], to) if isinstance(to, list) else []
    if not listed or not all(isinstance(each, str) for each in listed):
        raise ValueError("to must be a list of e-mail addresses")
    for each in listed:
        if not _ADDRESS.fullmatch(each):
            raise ValueError(f"to: {each[:80]!r} is not an e-mail address")
        Address(addr_spec=each)
    if len(listed) > MOST_RECIPIENTS:
        raise ValueError(f"to may have at most {MOST_RECIPIENTS} addresses")
    return {"to": list(dict.fromkeys(listed))}, {}


def missing(settings: Settings) -> str:
    return "" if settings.smtp_url else "WEIR_SMTP_URL is not set."


KIND: Final = Kind(
    name="email",
    label="E-mail",
    fields=(Field("to", "Addresses", "night@example.com, desk@example.com", many=True),),
    check=check,
    send=send,
    missing=missing,
)
