import Testing

@testable import TransferJobs

/// The events of XML as a line each, and the places of faults in a document.
@Suite struct XMLScannerTests {
    private func events(_ text: String) -> [String] { events(Array(text.utf8)) }

    private func events(_ bytes: [UInt8]) -> [String] {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = XMLScanner(bytes)
            var lines: [String] = []
            do throws(XMLScanner.Fault) {
                while let event = try scanner.next() {
                    switch event {
                    case .start(let name, let attributes, _):
                        let list = attributes.map { " \($0.name.space)|\($0.name.local)=\($0.value)" }.joined()
                        lines.append("<\(name.space)|\(name.local)\(list)>")
                    case .end(let name, _): lines.append("</\(name.space)|\(name.local)>")
                    case .text(let text, _): lines.append(text)
                    }
                }
            } catch {
                lines.append("\(error.range.lowerBound): \(error.message)")
            }
            return lines
        }
    }

    @Test func elementsHaveTheirNamespacesAndText() {
        #expect(
            events(
                "\u{FEFF}<?xml version='1.0' encoding=\"UTF-8\"?><!DOCTYPE a><a xmlns='u' xmlns:p=\"v\"><!-- x > --><p:b p:c='1' d='&lt;&#x41;&#66;'/>t &amp; <![CDATA[<&>]]></a>\n"
            )
                == ["<u|a>", "<v|b v|c=1 |d=<AB>", "</v|b>", "t & ", "<&>", "</u|a>"])
    }

    /// A declaration of an inner element ends with that element.
    @Test func aPrefixHoldsWithinItsElement() {
        #expect(
            events("<a xmlns='u'><b xmlns='v'/><c xmlns=''/><d/></a>")
                == ["<u|a>", "<v|b>", "</v|b>", "<|c>", "</|c>", "<u|d>", "</u|d>", "</u|a>"])
    }

    @Test(arguments: [
        ("", "no element is in the document"), ("   ", "no element is in the document"),
        ("{}", "no XML: it begins with <"), ("<a>", "the document ends within <a>"),
        ("<a", "the tag a has no end"), ("<a b", "the attribute b has no value"),
        ("<a b=c>", "the value of b needs quotes"), ("<a b='c", "the value of b has no end"),
        ("<a b='<'/>", "< cannot stand in a value; write &lt;"), ("<a b='1'c='2'/>", "a space is missing"),
        ("<a b='1' b='2'/>", "the attribute b is there twice"), ("<a></b>", "</b> ends nothing; </a> was to come"),
        ("<a/></a>", "</a> ends nothing"), ("<a/><b/>", "a second element"), ("<a/>x", "text behind the end"),
        ("<a>&x;</a>", "the entity &x; is not known"), ("<a>& </a>", "& alone; write &amp;"),
        ("<a>&#0;</a>", "the entity &#0; is not known"), ("<a>&#xD800;</a>", "the entity &#xD800; is not known"),
        ("<a><!-- </a>", "the comment has no end"), ("<a><![CDATA[ </a>", "the CDATA section has no end"),
        ("<?xml", "the processing instruction has no end"), ("<a><?xml version='1.0'?></a>", "<?xml … ?> stands"),
        ("<?xml version='1.0' encoding='UTF-16'?><a/>", "the encoding is \"utf-16\""),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", "a document type with declarations is not read"),
        ("<!DOCTYPE a", "the document type has no end"), ("<a/><!DOCTYPE a>", "a declaration cannot stand here"),
        ("<p:a/>", "the prefix p: is not declared"), ("<1/>", "an element's name is missing"),
        ("<>", "an element's name is missing"), ("<a>\u{1}</a>", "XML cannot hold control characters"),
    ])
    func aFaultIsReported(text: String, message: String) {
        let found = events(text).last ?? ""
        #expect(found.contains(": \(message)"), "\(text): \(found)")
    }

    @Test func invalidUTF8IsAFault() {
        #expect(events([UInt8(ascii: "<"), 0x61, 0x3E, 0xFF, 0x3C]).last == "3: invalid UTF-8")
    }

    /// Inputs that expand without bound are refused: entities, deep nesting, and a megabyte of attributes.
    @Test func theReadersMemoryIsBounded() {
        #expect(events(String(repeating: "<a>", count: 100_000)).last?.contains("more than 64 elements") == true)
        let attributes = (0..<1000).map { "a\($0)='1'" }.joined(separator: " ")
        #expect(events("<a \(attributes)/>").last?.contains("more than 64 attributes") == true)
    }

    /// Each truncated document, and each with one byte changed, is read to its end or to a fault.
    @Test func noInputCrashesTheReader() {
        let text = Array(
            "<?xml version='1.0'?><!DOCTYPE m><m xmlns='u' xmlns:p='v'><!--c--><p:f n='a&amp;b'>x&#65;<![CDATA[y]]></p:f></m>"
                .utf8)
        for length in text.indices { _ = events(Array(text[..<length])) }
        var seed: UInt64 = 7
        for index in text.indices {
            for _ in 0..<8 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                var changed = text
                changed[index] = UInt8(truncatingIfNeeded: seed >> 33)
                #expect(!events(changed).isEmpty)
            }
        }
    }
}
