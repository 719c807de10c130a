import TransferTestServer

/// Answers with false statements about the file.
extension DownloadFault {
    private static let nothingHeld = Meaning.leftOut("nothing is held, so no range is asked for")
    private static let unknowable = Meaning.leftOut(
        "with nothing held and no digest, nothing tells a page from the file")

    /// A fault of an answer to a range. A file that has its name, and a file of a different version, are requested
    /// whole.
    private static func range(
        _ name: String, _ fault: @escaping @Sendable (Question) -> Fault
    ) -> DownloadFault {
        let fault = answer(name, .passing, fault)
        return fault.except([MatrixWay.plain], [MatrixMoment.first, .after], nothingHeld)
            .except([MatrixWay.conditional], [MatrixMoment.first], nothingHeld)
    }

    private static let noTag = Fault.header("ETag", nil).and(.header("Last-Modified", nil))

    static var ranges: [DownloadFault] {
        var faults: [DownloadFault] = []
        faults.append(range("206 that begins earlier") { .serveRange(max(0, $0.from - 100)..<$0.file.count) })
        faults.append(
            range("206 that begins later") { .serveRange(min($0.from + 1000, $0.file.count - 1)..<$0.file.count) })
        faults.append(range("206 whose Content-Range is shifted") { _ in .wrongContentRange(shiftedBy: 100) })
        faults.append(range("206 with a greater total") { .contentRangeTotal($0.file.count + 7) })
        faults.append(range("206 with a smaller total") { .contentRangeTotal($0.file.count - 1) })
        faults.append(range("206 with the total *") { _ in .contentRangeTotal(nil) })
        faults.append(range("206 in several parts") { _ in .multipartRanges })
        faults.append(range("206 of one byte") { .serveRange($0.from..<min($0.from + 1, $0.file.count)) })
        faults.append(range("206 without a tag") { _ in noTag })
        faults.append(range("206 with another tag") { _ in .header("ETag", "\"other\"") })
        faults.append(range("416 with the length") { _ in .rangeNotSatisfiable })
        faults.append(range("200, Range ignored, no tag") { _ in .ignoreRange.and(noTag) })
        faults.append(
            range("200, Range ignored, weak tag") { .ignoreRange.and(.header("ETag", "W/" + $0.etag)) })
        let both = [
            range("416") { _ in .status(416) }, range("206 without Content-Range") { _ in .missingContentRange },
            range("200, Range ignored") { _ in .ignoreRange },
        ]
        for fault in both {
            faults.append(fault)
            faults.append(fault.forEver(fault.name == "416" ? .final("") : .passing))
        }
        return faults
    }

    static var versions: [DownloadFault] {
        var faults: [DownloadFault] = []
        faults.append(answer("another version, longer") { .replace(with: version($0.file.count + 5000)) })
        faults.append(answer("another version, shorter") { .replace(with: version($0.file.count / 4)) })
        faults.append(answer("another version, of that length") { .replace(with: version($0.file.count)) })
        faults.append(
            range("another version, If-Range ignored") {
                .replace(with: version($0.file.count)).and(.serveRange($0.from..<$0.file.count))
            })
        for index in faults.indices { faults[index].isNewVersion = true }
        let page = Content.text("<html><form>Sign in</form></html>")
        for fault in [
            sends("200 with a login page", .status(200, headers: ["Content-Type": "text/html"], body: page)),
            sends("302 to a login page", .redirect(to: "/login")),
        ] {
            faults.append(
                fault.except([MatrixWay.plain, .conditional], [MatrixMoment.first], unknowable)
                    .except([MatrixWay.plain], [MatrixMoment.after], unknowable))
        }
        return faults
    }

    /// Returns the file that replaces the requested one.
    static func version(_ count: Int64) -> ServedFile {
        ServedFile(.random(seed: 99, count: count), etag: "\"new\"", lastModified: 1_700_000_000)
    }

    static var lengths: [DownloadFault] {
        var faults: [DownloadFault] = []
        for length in ["5, 11", "0xb", "1 1", "-5", "", "99999999999999999999999", "+9"] {
            faults.append(lines("Content-Length: \(length)") { $0[1] = "Content-Length: \(length)" })
        }
        faults.append(lines("Content-Length with letters") { $0[1] += "abc" })
        faults.append(lines("Content-Length twice, differing") { $0.append("Content-Length: 7") })
        faults.append(lines("Content-Length twice, alike") { $0.append($0[1]) })
        faults.append(lines("folded Content-Length") { $0[1] = $0[1].replacing(": ", with: ":\r\n ") })
        faults.append(
            lines("folded Content-Range") { lines in
                lines = lines.map { $0.replacing("Content-Range: ", with: "Content-Range:\r\n ") }
            })
        faults.append(lines("folded Transfer-Encoding") { $0[1] = "Transfer-Encoding:\r\n chunked" })
        faults.append(lines("Transfer-Encoding: rot13") { $0[1] = "Transfer-Encoding: rot13" })
        faults.append(lines("chunked, and a length") { $0.insert("Transfer-Encoding: chunked", at: 0) })
        faults.append(sends("a length that is too long", .contentLength(off: 100)))
        let differing = lines("Content-Length: 5, 11") { $0[1] = "Content-Length: 5, 11" }
        faults.append(differing.forEver(.final("lengths")))
        return faults
    }

    static var heads: [DownloadFault] {
        var faults: [DownloadFault] = []
        faults.append(lines("a fold elsewhere") { $0.append("X-Note: one\r\n two") })
        faults.append(lines("a fold as the first line") { $0.insert(" folded", at: 0) })
        faults.append(lines("a field line of 1 MB") { $0.append("X-Long: " + String(repeating: "x", count: 1 << 20)) })
        faults.append(lines("a line without a colon") { $0.append("nonsense") })
        faults.append(lines("a zero in a field") { $0.append("X-Zero: a\0b") })
        faults.append(lines("CR alone in a field") { $0.append("X-Break: a\rb") })
        faults.append(answer("no head, only bytes") { .garbage($0.file.bytes(in: $0.from..<$0.file.count)) })
        faults.append(sends("HTTP/9.9", text("HTTP/9.9 200 OK\r\nContent-Length: 3\r\n\r\nabc")))
        faults.append(sends("status abc", text("HTTP/1.1 abc OK\r\nContent-Length: 3\r\n\r\nabc")))
        faults.append(sends("half a head", text("HTTP/1.1 200 OK\r\nContent-Le")))
        faults.append(sends("fields of 2 MB", .oversizedHeaders(2 << 20)))
        faults.append(sends("garbage", .garbage()))
        faults.append(sends("garbage", .garbage()).forEver(.final("")))
        return faults
    }

    private static func text(_ text: String) -> Fault { .garbage(Array(text.utf8)) }

    private static func lines(
        _ name: String, _ change: @escaping @Sendable (inout [String]) -> Void
    ) -> DownloadFault {
        answer(name) { $0.raw(change) }
    }

    static var connections: [DownloadFault] {
        var faults: [DownloadFault] = []
        faults.append(body("cut") { .cut(after: $0) })
        faults.append(body("reset") { .reset(after: $0) })
        faults.append(body("chunked, cut") { .chunked().and(.cut(after: $0)) })
        faults.append(body("chunked, reset") { .chunked().and(.reset(after: $0)) })
        faults.append(body("no length, cut") { .noContentLength.and(.cut(after: $0)) })
        faults.append(body("no length, reset") { .noContentLength.and(.reset(after: $0)) })
        var silences = [
            body("a stall") { .stall(after: $0) }, body("chunked, a stall") { .chunked().and(.stall(after: $0)) },
            sends("no answer", .holdHead),
        ]
        for index in silences.indices { silences[index].stalls = true }
        faults += silences
        faults.append(sends("no length", .noContentLength))
        faults.append(sends("chunked", .chunked()))
        faults.append(sends("cut before the head", .closeBeforeHead))
        faults.append(sends("reset before the head", .resetBeforeHead))
        faults.append(sends("reset before the head", .resetBeforeHead).forEver(.final("")))
        faults.append(sends("closed afterwards", .closeAfterwards))
        return faults
    }
}
