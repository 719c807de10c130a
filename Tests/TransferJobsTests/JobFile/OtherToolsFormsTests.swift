import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// Checksum files in the forms of common tools, and lines in the forms that people write by hand.
@Suite struct OtherToolsFormsTests {
    private static let sum = String(repeating: "ab", count: 32)
    private static let long = String(repeating: "cd", count: 64)
    private static let short = String(repeating: "ef", count: 16)

    @Test(arguments: [
        "\(sum)  f.iso", "\(sum) *f.iso", "\(sum) f.iso", "\(sum)\tf.iso", "  \(sum)  f.iso",
        "\(sum.uppercased())  f.iso",
        "SHA256 (f.iso) = \(sum)", "SHA256(f.iso)= \(sum)", "SHA2-256(f.iso)= \(sum)", "SHA2-256(f.iso) = \(sum) ",
        "\u{FEFF}\(sum)  f.iso", "\(sum)  f.iso\r", "\(sum)  ./f.iso", "\(sum)  dir/../f.iso", "# head\n\(sum)  f.iso",
        "\(short)  f.iso\n\(sum)  f.iso", "\(sum)  f.iso\n\(short)  f.iso", sum, "SHA256(stdin)= \(sum)",
        "\(short)\n\(sum)\n",
    ])
    func checksumsAreFoundAsTheirToolsWriteThem(_ text: String) {
        #expect(ChecksumList(Array(text.utf8)).checksum(of: "https://h/x/f.iso")?.description == "sha256:\(Self.sum)")
    }

    @Test(
        arguments: [
            ("my file.iso", "my%20file.iso"), ("a+b.iso", "a%2Bb.iso"), ("übung.iso", "%C3%BCbung.iso"),
            ("x[1].iso", "x%5B1%5D.iso"), ("x~rc1.iso", "x%7Erc1.iso"), ("r/my file.iso", "my%20file.iso"),
            ("my%20file.iso", "my file.iso"), ("my%20file.iso", "my%20file.iso"), ("100%.iso", "100%25.iso"),
        ] as [(String, String)])
    func namesMatchWithAndWithoutPercentCodes(_ listed: String, _ asked: String) {
        let list = ChecksumList(Array("\(Self.sum)  \(listed)".utf8))
        #expect(list.checksum(of: "https://h/r/\(asked)") != nil)
        #expect(list.checksum(of: "https://h/r/other-\(asked)") == nil)
    }

    @Test func escapedNamesAndRepeatedNamesAreDistinct() {
        let list = ChecksumList(Array("\\\(Self.sum)  a\\nb\\\\c".utf8))
        #expect(list.checksum(of: "a\nb\\c") != nil)
        let two = ChecksumList(Array("\(Self.sum)  a%20b\n\(Self.long)  a b".utf8))
        #expect(two.checksum(of: "a b")?.algorithm == .sha512)
        #expect(two.checksum(of: "a%20b")?.algorithm == .sha256)
        let bare = ChecksumList(Array("\(Self.sum)\n\(Self.sum.replacing("ab", with: "cd"))".utf8))
        #expect(bare.checksum(of: "f") == nil && bare.isUnnamed)
        #expect(ChecksumList(Array("hello\n(x) = y\n".utf8)).isEmpty)
    }

    // MARK: Lists

    private func faults(_ text: String, _ format: JobFileFormat? = nil) throws -> (
        jobs: [JobSpec], faults: [JobFileFault]
    ) {
        var (jobs, faults): ([JobSpec], [JobFileFault]) = ([], [])
        var reader = JobFileReader(format: format) { _ in [] }
        _ = try reader.read(Array(text.utf8)) { element in
            if case .job(let spec, _) = element { jobs.append(spec) }
            if case .fault(let fault) = element { faults.append(fault) }
        }
        return (jobs, faults)
    }

    @Test(arguments: [
        "- https://h/a", "* https://h/a", "• https://h/a", "1. https://h/a", "2) https://h/a", "[ ] https://h/a",
        "- [x] https://h/a", "> https://h/a", "<https://h/a>", "[a](https://h/a)", "- [a](https://h/a)",
        "see https://h/a",
        "\"https://h/a\"", "'https://h/a'", "`https://h/a`", "https://h/a,", "https://h/a;",
        "https://h/a and https://h/b",
        "https://h/a, https://h/b", "https://h/a,https://h/b", "https://h/a https://h/b", "(https://h/a)",
        "https://h/a)",
        "https://h/a # the first", "https://h/a (2 MB)", "https://h/a - the first",
    ])
    func aLineOfNotesIsRefusedInWords(_ line: String) throws {
        for text in [line, "https://h/ok\n\(line)", "# list\n\n\(line)\nhttps://h/ok"] {
            let found = try faults(text)
            #expect(found.faults.count == 1, "\(text): \(found)")
            #expect(found.faults.first?.message.contains("URL") == true, "\(found)")
            let number = text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0 == line }
            #expect(found.faults.first?.span.line == number.map { $0 + 1 }, "\(found)")
        }
    }

    @Test(arguments: [
        "https://h/a_(b)", "https://h/a;v=1", "https://h/a,b", "https://web.example/web/2020/https://h/b",
        "https://h/a?u=http://b/",
        "https://h/(a)", "https://h/a#b", "ftp://h/a;type=i",
    ])
    func aURLIsAcceptedUnchanged(_ line: String) throws {
        let found = try faults(line)
        #expect(found.jobs.count == 1 && found.faults.isEmpty, "\(found)")
    }

    @Test(arguments: [
        "url;to\nhttps://h/a;x", "url\tto\nhttps://h/a\tx", "sep=;\nurl;to\nhttps://h/a;x", "url,to\nhttps://h/a,x",
        "\"url\";\"to\"\r\n\"https://h/a\";\"x\"\r\n", "to;url\nx;https://h/a", "sep=\t\nurl\tto\nhttps://h/a\tx",
        "# export\nurl;to\nhttps://h/a;x",
    ])
    func columnsHaveTheSeparatorsOfASpreadsheet(_ text: String) throws {
        for format in [JobFileFormat.csv, nil] {
            let found = try faults(text, format)
            #expect(found.jobs.map(\.work.path) == ["x"] && found.faults.isEmpty, "\(found)")
            #expect(found.jobs.first?.urls == ["https://h/a"])
        }
    }

    @Test func aCellMayHoldTheOtherSeparators() throws {
        let found = try faults("url;to\nhttps://h/a,b;\"x;y\"", .csv)
        #expect(found.jobs.first?.urls == ["https://h/a,b"] && found.jobs.first?.work.path == "x;y", "\(found)")
        let wrong = try faults("url;to\nhttps://h/a;x;y", .csv)
        #expect(wrong.faults.first?.message.contains("a semicolon in a cell needs quotes") == true, "\(wrong)")
    }

    // MARK: A page with many checksums

    private func names(_ urls: [String], _ rule: Collisions?) throws -> (jobs: [JobSpec.Download], faults: [String]) {
        var (jobs, faults): ([JobSpec.Download], [String]) = ([], [])
        var reader = JobFileReader(format: .urlList, names: DestinationNames(rule, directory: "/d")) { _ in [] }
        _ = try reader.read(Array(urls.joined(separator: "\n").utf8)) { element in
            if case .job(let spec, _) = element, case .download(let download) = spec.work { jobs.append(download) }
            if case .fault(let fault) = element { faults.append(fault.message) }
        }
        return (jobs, faults)
    }

    @Test(arguments: [nil, Collisions.rename]) func theServerNamesEachFileOfAPage(rule: Collisions?) throws {
        let found = try names((1...3).map { "https://h/download.php?id=\($0)" } + ["https://h/download.php?id=2"], rule)
        #expect(found.faults.isEmpty && found.jobs.map(\.destination) == ["./", "./", "./"])
        #expect(found.jobs.map(\.expectedFile) == ["download.php", "download-2.php", "download-3.php"])
        let target = DownloadTarget("./", directory: "/d", defaultName: found.jobs[1].defaultName)
        let url = found.jobs[1].urls[0]
        #expect(target.file(url: url, disposition: "attachment; filename=\"b.bin\"") == "/d/b.bin")
        #expect(target.file(url: url, disposition: nil) == "/d/download-2.php")
    }

    /// Two servers of one name may have one file: a list for both has to say so.
    @Test func anotherServersFileOfThatNameIsRefused() throws {
        let found = try names(["https://a/f.php?id=1", "https://b/f.php?id=1"], nil)
        #expect(found.jobs.count == 1 && found.faults.first?.contains("collisions") == true, "\(found)")
    }
}
