import Testing
import TransferCore

@testable import TransferUpload

@Suite struct XMLElementTests {
    private func read(_ text: String) -> XMLElement? { XMLElement.read(Array(text.utf8)) }

    @Test func answersOfServersAreParsed() throws {
        let root = try #require(
            read(
                """
                \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
                <!-- a > comment -->
                <!DOCTYPE x [ <!ENTITY e "v"> ]>
                <ns:Result xmlns:ns="http://s3.amazonaws.com/doc/2006-03-01/" a='>' b="/>">
                  <UploadId> a&amp;b&lt;&gt;&quot;&apos;&#65;&#x42;&unknown;&#xD800;& </UploadId>
                  <Empty/><Empty2 a="1" />
                  <Data><![CDATA[<raw>&amp;]]>!</Data>
                  <Part><N>1</N></Part><Part><N>2</N></Part>
                </ns:Result>
                <After/>
                """))
        #expect(root.name == "Result")
        #expect(root.isWhole)
        #expect(root.text("UploadId") == "a&b<>\"'AB&unknown;&#xD800;&")
        #expect(root.text("Empty") == nil)
        #expect(root.child("Empty2")?.isWhole == true)
        #expect(root.text("Data") == "<raw>&amp;!")
        #expect(root.children.filter { $0.name == "Part" }.compactMap { $0.text("N") } == ["1", "2"])
        #expect(root.child("After") == nil)
    }

    @Test func truncatedDocumentsAreParsedPartially() throws {
        let root = try #require(read("<L><P><N>1</N></P><P><N>2</N><S>5"))
        #expect(!root.isWhole)
        #expect(root.children.map(\.isWhole) == [true, false])
        #expect(root.children[1].text("N") == "2")
        #expect(root.children[1].text("S") == nil, "half a number is none")
    }

    @Test(
        arguments: [
            ("", nil), ("plain", nil), ("<", nil), ("</a>", nil), ("<!", nil), ("<!--", nil), ("<a", nil), ("<?", nil),
            ("<a>", "a"), ("<a><b></a>", "a"), ("<a></b></a>", "a"), ("<a/>", "a"), ("<></>", ""),
            ("<a><![CDATA[", "a"),
            ("<a b=\"", nil), ("<a><b", "a"), ("<html><br><p></html>", "html"),
        ] as [(String, String?)])
    func wrongDocumentsDontMatter(_ text: String, _ name: String?) {
        #expect(read(text)?.name == name)
    }

    @Test func nestingAndNumbersAreBounded() throws {
        let deep = try #require(read(String(repeating: "<a>", count: 100_000)))
        var depth = 0
        var element: XMLElement? = deep
        while let next = element {
            depth += 1
            element = next.children.first
        }
        #expect(depth == 32)
        let wide = try #require(read("<a>" + String(repeating: "<b/>", count: 60_000) + "</a>"))
        #expect(wide.children.count == 49_999)
        #expect(!wide.isWhole)
    }

    @Test func answersOfOtherServersAreUnderstood() {
        let moto = """
            <?xml version="1.0" encoding="utf-8"?>
            <ListPartsResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><PartNumberMarker>0</PartNumberMarker>
            <NextPartNumberMarker>2</NextPartNumberMarker><IsTruncated>false</IsTruncated><Part>
            <PartNumber>1</PartNumber><ETag>"62374865243c89a1fcd8d32d2e972bf1"</ETag><Size>5</Size></Part>
            </ListPartsResponse>
            """
        let rclone = """
            <ListPartsResult>
              <NextPartNumberMarker>0</NextPartNumberMarker>
              <Part>
                <PartNumber>1</PartNumber>
                <ETag>&#34;62374865243c89a1fcd8d32d2e972bf1&#34;</ETag>
                <Size>5</Size>
              </Part>
            </ListPartsResult>
            """
        for text in [moto, rclone] {
            let page = S3Answers.PartsPage(Array(text.utf8), after: 0)
            #expect(page?.parts.map(\.etag) == ["\"62374865243c89a1fcd8d32d2e972bf1\""])
            #expect(page?.next == nil)
        }
        let created = "<InitiateMultipartUpload><UploadId>7e</UploadId></InitiateMultipartUpload>"
        #expect(S3Answers.uploadID(Array(created.utf8)) == "7e")
        let wrongMarker =
            "<ListPartsResult><IsTruncated>true</IsTruncated>"
            + "<NextPartNumberMarker>0</NextPartNumberMarker><Part><PartNumber>3</PartNumber><ETag>e</ETag>"
            + "<Size>1</Size></Part></ListPartsResult>"
        #expect(S3Answers.PartsPage(Array(wrongMarker.utf8), after: 2)?.next == 3)
    }

    @Test func escapingReadsBack() {
        let text = "\"a\" <b> & 'c' é]]>"
        #expect(read("<a>\(XMLElement.escaped(text))</a>")?.text == text)
    }

    @Test func noBytesMakeItTrap() {
        let samples = [
            S3Samples.parts, S3Samples.error("NoSuchUpload", region: "x"),
            "<a b='1'><![CDATA[x]]><!-- c --><?p?><!DOCTYPE d [<!x>]>&#x41;</a>",
        ].map { Array($0.utf8) }
        var generator = S3Random(seed: 7)
        for _ in 0..<4000 {
            var bytes = samples[Int.random(in: 0..<samples.count, using: &generator)]
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("<>/&;\"'![]-".utf8).randomElement(using: &generator) ?? 0, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { bytes = [0x3C] }
            }
            let root = XMLElement.read(bytes)
            #expect((root?.children.count ?? 0) <= bytes.count)
            _ = S3Fault(bytes)
            _ = S3Answers.completed(bytes)
            if let page = S3Answers.PartsPage(bytes, after: 3), let next = page.next { #expect(next > 3) }
        }
    }
}
