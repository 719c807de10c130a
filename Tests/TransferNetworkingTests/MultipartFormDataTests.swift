import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferNetworking

@Suite("Multipart forms on the wire")
struct MultipartFormDataTests {
    private let form = MultipartFormData(boundary: "b")

    @Test func oneFieldIsEncodedToTheByte() throws {
        form.append(Data("one".utf8), withName: "first")
        let text = try form.encodedText()
        #expect(text == "--b\r\nContent-Disposition: form-data; name=\"first\"\r\n\r\none\r\n--b--\r\n")
    }

    @Test func partsFollowInTheOrderInWhichTheyWereAdded() throws {
        form.append(Data("1".utf8), withName: "z")
        form.append(Data(), withName: "a")
        form.append(Data("3".utf8), withName: "z")
        let text = try form.encodedText()
        #expect(
            text == """
                --b\r
                Content-Disposition: form-data; name="z"\r
                \r
                1\r
                --b\r
                Content-Disposition: form-data; name="a"\r
                \r
                \r
                --b\r
                Content-Disposition: form-data; name="z"\r
                \r
                3\r
                --b--\r\n
                """)
    }

    @Test func aFileNameAndATypeAreInTheFieldsDispositionFirst() throws {
        form.append(Data("{}".utf8), withName: "f", fileName: "a.json", mimeType: "application/json")
        let text = try form.encodedText()
        #expect(
            text == """
                --b\r
                Content-Disposition: form-data; name="f"; filename="a.json"\r
                Content-Type: application/json\r
                \r
                {}\r
                --b--\r\n
                """)
    }

    @Test func aFileIsSentUnderItsNameWithTheTypeOfItsExtension() throws {
        let folder = try TemporaryFolder("form")
        try folder.write("<p>", to: "pagé one.HTML")
        form.append(folder.url("pagé one.HTML"), withName: "page")
        let text = try form.encodedText()
        #expect(
            text == """
                --b\r
                Content-Disposition: form-data; name="page"; filename="pagé one.HTML"\r
                Content-Type: text/html\r
                \r
                <p>\r
                --b--\r\n
                """)
    }

    @Test func aFileIsSentUnderTheNameAndTypeThatAreGiven() throws {
        let folder = try TemporaryFolder("form")
        try folder.write("x", to: "README")
        form.append(folder.url("README"), withName: "r", fileName: "r.md", mimeType: "text/markdown")
        let text = try form.encodedText()
        #expect(text.contains("name=\"r\"; filename=\"r.md\"\r\nContent-Type: text/markdown\r\n\r\nx\r\n"))
    }

    @Test func aStreamIsSentWithItsName() throws {
        form.append(
            InputStream(data: Data("abc".utf8)), withLength: 3, name: "s", fileName: "s.bin",
            mimeType: "application/octet-stream")
        let text = try form.encodedText()
        #expect(
            text == """
                --b\r
                Content-Disposition: form-data; name="s"; filename="s.bin"\r
                Content-Type: application/octet-stream\r
                \r
                abc\r
                --b--\r\n
                """)
    }

    @Test func aStreamsOwnFieldsKeepTheirOrder() throws {
        form.append(
            ScriptedStream("abc"), withLength: 3,
            headers: ["X-Z": "1", "Content-Disposition": "form-data; name=\"s\"", "X-A": "2"])
        let text = try form.encodedText()
        #expect(
            text == "--b\r\nX-Z: 1\r\nContent-Disposition: form-data; name=\"s\"\r\nX-A: 2\r\n\r\nabc\r\n--b--\r\n")
    }

    /// The HTML standard, "Multipart form data".
    @Test(arguments: [
        ("plain", "plain"), ("a\"b", "a%22b"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"),
        ("\"\r\n\"", "%22%0D%0A%22"), ("Größe 🙂", "Größe 🙂"), ("e\u{301}", "e\u{301}"), ("a\\b", "a\\b"),
        ("%22", "%22"), ("a;b='c'", "a;b='c'"), ("tab\tb", "tab\tb"), ("", ""),
    ])
    func namesAndFileNamesAreEscapedAsBrowsersDo(name: String, escaped: String) throws {
        form.append(Data("x".utf8), withName: name, fileName: name)
        let body = try form.encode()
        let expected = "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n\r\n"
        #expect(body == Data("--b\r\n\(expected)x\r\n--b--\r\n".utf8))
    }

    @Test func lineBreaksInFieldsCannotAddFieldsOrContent() throws {
        form.append(Data("x".utf8), withName: "a", mimeType: "text/plain\r\nX-Evil: 1\r\n\r\ny")
        form.append(ScriptedStream(""), withLength: 0, headers: ["X-A\r\nX-B": "1\n2\u{0}3"])
        let text = try form.encodedText()
        #expect(text.contains("Content-Type: text/plain  X-Evil: 1    y\r\n\r\nx\r\n"))
        #expect(text.contains("X-A  X-B: 1 2 3\r\n\r\n\r\n"))
    }

    @Test func theContentTypeNamesTheBoundary() {
        #expect(form.contentType == "multipart/form-data; boundary=b")
        #expect(MultipartFormData(boundary: "a b:c").contentType == "multipart/form-data; boundary=\"a b:c\"")
    }

    @Test func aRandomBoundaryIsAnotherEachTimeAndNeedsNoQuotes() {
        let boundaries = (0..<50).map { _ in MultipartFormData().boundary }
        #expect(Set(boundaries).count == 50)
        #expect(boundaries.allSatisfy { $0.wholeMatch(of: /tkit\.form\.boundary\.[0-9a-f]{16}/) != nil })
    }

    @Test(arguments: ["", "b\r\nX-Evil: 1", "ends in a space ", String(repeating: "x", count: 71), "ü", "a\"b"])
    func aBoundaryThatMailersWouldNotUnderstandIsRefused(boundary: String) {
        let form = MultipartFormData(boundary: boundary)
        form.append(Data("x".utf8), withName: "x")
        #expect(throws: TransferError.self) { try form.encode() }
        #expect(!form.contentType.contains("\r"))
        #expect(form.boundary != boundary)
    }

    @Test func theContentLengthIsThatOfTheContents() throws {
        #expect(form.contentLength == 0)
        form.append(Data(count: 5), withName: "a")
        form.append(ScriptedStream("1234567"), withLength: 7, name: "s", fileName: "s", mimeType: "a/b")
        #expect(form.contentLength == 12)
        form.append(ScriptedStream(""), withLength: .max, name: "s", fileName: "s", mimeType: "a/b")
        #expect(form.contentLength == .max)
        #expect(throws: TransferError.self) { try form.encode() }
    }

    @Test func aFormWithoutPartsIsEmpty() throws {
        let body = try form.encode()
        #expect(body.isEmpty)
    }

    @Test func aFormOfDataAndFilesCanBeEncodedAgain() throws {
        let folder = try TemporaryFolder("form")
        try folder.write("file", to: "a.txt")
        form.append(Data("data".utf8), withName: "d")
        form.append(folder.url("a.txt"), withName: "f")
        let first = try form.encode()
        let second = try form.encode()
        #expect(first == second)
        let other = folder.url("encoded")
        try form.writeEncodedData(to: other)
        let written = try Data(contentsOf: other)
        #expect(written == first)
    }

    @Test func aSliceOfDataIsSentFromItsStart() throws {
        form.append(Data("0123456789".utf8)[3..<6], withName: "s")
        let text = try form.encodedText()
        #expect(text.contains("\r\n\r\n345\r\n--b--"))
    }

    @Test func theMemoryThresholdIsTenMegabytes() { #expect(MultipartFormData.encodingMemoryThreshold == 10_000_000) }
}

@Suite("Multipart forms: media types of files")
struct MultipartMediaTypeTests {
    @Test(arguments: [
        ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("JPG", "image/jpeg"),
        ("heic", "image/heic"), ("svg", "image/svg+xml"), ("webp", "image/webp"), ("html", "text/html"),
        ("txt", "text/plain"), ("csv", "text/csv"), ("js", "text/javascript"), ("json", "application/json"),
        ("pdf", "application/pdf"), ("zip", "application/zip"), ("gz", "application/gzip"), ("mp4", "video/mp4"),
        ("mov", "video/quicktime"), ("mp3", "audio/mpeg"), ("m4a", "audio/mp4"), ("woff2", "font/woff2"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("", "application/octet-stream"), ("nosuchthing", "application/octet-stream"),
    ])
    func extensionsHaveTheirRegisteredTypes(fileExtension: String, type: String) {
        #expect(FileMediaType.of(fileExtension: fileExtension) == type)
    }
}
