"""What the words of headings mean."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from api.ingest.foreign.units import Values


def set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS: Final[dict[str, str]] = {
    "time": "time timestamp date datetime recorded recordedat recorded_at ts when zeit zeitpunkt"
    " zeitstempel datum uhrzeit fecha hora data ora heure horodatage instante ablesezeit received"
    " day utc local dates times timestamps stamp tstamp clock",
    "device": "device meter serial zahler zaehler zahlernummer zaehlernummer contador contatore"
    " compteur sensor id deviceid meterid account customer user userid userkey anlage matricola"
    " nummer number name point site location node dma household apparat gerat geraet eui deveui"
    " devicename geratename geratenummer seriennummer identifier messstelle teller endpoint miu sn"
    " mprn sheet logger datalogger loggerid equipment equnr instance tags tagname topic"
    " kennung zahlpunkt",
    "temperature": "temperature temp temperatur temperatura onboard",
    "signal": "signal strength signalstrength",
    "rssi": "rssi",
    "quality": "quality snr qualitat calidad",
    "duration": "duration dauer duracion durata duree seconds elapsed",
    "water": "water flow volume consumption usage use verbrauch menge durchfluss consumo caudal"
    " portata debit zahlerstand zaehlerstand stand index reading register lectura lettura value"
    " diff difference delta amount avg rate total totalizer totaliser counter cumulative wert"
    " wasser agua acqua eau valor valore inflow outflow volumen messwert litres liters gallons gpm"
    " verbruik meterstand stroom pulse pulses impuls impulse impulsi impulsos relevé releve val"
    " values",
}
_VALUES: Final[dict[Values, str]] = {
    "register": "register reading stand index total totalizer totaliser counter cumulative lectura"
    " lettura zahlerstand zaehlerstand meterstand odometer releve",
    "rate": "rate durchfluss caudal portata debit gpm lpm avg inst",
    "amount": "amount diff difference delta consumption usage verbrauch consumo menge verbruik"
    " interval",
}
WHAT: Final = {is_: set_of(words) for is_, words in _WORDS.items()}
HOW: Final = {values: set_of(words) for values, words in _VALUES.items()}
_PLAIN_LETTERS: Final = str.maketrans({"ß": "ss"})
SECONDARY: Final = set_of(
    "lat lon latitude longitude battery batterie price cost target max maximum minimum limit"
    " threshold tariff alarm alarme previous reverse backward ruckwarts rueckwarts retour inverso"
)
STATUS: Final = set_of(
    "status state flag flags code type quality estimated estimate event alarm note notes comment"
    " battery batterie remark bemerkung kommentar zustand estado stato etat kwaliteit calidad"
    " qualite qualita qualitat unit uom approval grade qualifier"
    " mesure estime reel geschatzt geschaetzt abgelesen stimato estimada"
    " flg valid validity info day weekday wochentag source method typ geratetyp medium"
)
"""Headings of texts that recur without naming a device."""
ENDS: Final = set_of("end ends ending to until bis ende fin fine hasta einde stop thru through")
HOURS: Final = set_of("hour hr hours stunde hora heure ora uur he std timme")
METERS: Final = set_of(
    "meter serial zahler zaehler zahlernummer zaehlernummer contador contatore compteur endpoint"
    " miu sn eui deveui mprn seriennummer geratenummer logger datalogger zahlpunkt"
)
"""Headings of a meter's own name, rather than of its customer or place."""
SHEETS: Final = set_of("sheet tabelle feuil feuille hoja foglio blad arkusz q quarter week kw t")
NAMED: Final = set_of("id identifier code")
"""Headings of numbers that name something rather than measure it."""
_HEADS: Final = (
    "datum", "zeit", "einheit", "zahler", "zahlernummer", "zahlerstand", "verbrauch", "menge",
)  # fmt: skip
"""Ends of compounds, which say what these are: Ablesedatum, Wasserzähler."""
IDS: Final = set_of("id identifier serial number nummer deviceid meterid loggerid eui deveui")
"""Headings of a device's identifier, which is steadier than its name."""


def words_of(name: str) -> frozenset[str]:
    """Returns the heading's words in lower case without accents; words written together count
    too."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().translate(_PLAIN_LETTERS)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z]+", plain)
    heads = [head for head in _HEADS if any(word.endswith(head) for word in words)]
    return frozenset([*words, *heads, "".join(words), "_".join(words)])
