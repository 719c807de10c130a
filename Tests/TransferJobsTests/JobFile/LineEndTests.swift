import Testing
import TransferQueueFixtures

@testable import TransferJobs

/// The end of a line is no part of the line: a fault in a file with CRLF quotes the same text as with LF.
@Suite struct LineEndTests {
    private static let lists: [(JobFileFormat, [String])] = [
        (.csv, ["url,to", "nonsense,a"]), (.csv, ["url,to,size", "http://h/a,b,many"]),
        (.csv, ["url,to", "http://h/a,b,c"]),
        (.csv, ["url,to,nope", "http://h/a,b,"]), (.csv, ["url;to"]),
        (.curl, ["url = http://h/a", "retry = many"]), (.curl, ["url = http://h/a", "output = \"b"]),
        (.curl, ["ouput = b"]),
        (.curl, ["url = http://h/a", "output"]), (.urlList, ["nonsense"]), (.urlList, ["http://h/a", " out"]),
        (.urlList, ["http://h/a", " max-tries=x"]), (.urlList, ["http://h/a", " checksum=md5=1"]),
        (.plainURLs, ["http://h/a b"]),
        (.jsonLines, [#"{"download": "http://h/a", "to": "b", "size": "x"}"#]),
        (.jsonLines, [#"{"download": "http://h/a""#]),
        (.jsonLines, [#"{"download": 1"#, "x"]),
        (.json, [#"{"version": 1,"#, #" "jobs": [{"download": "http://h/a", "to": "b", "size": "x"}"#, "]}"]),
        (.json, [#"{"version": 1,"#, #""jobs": [}"#]), (.json, [#"{"version": 2,"#, #""jobs": [], "nope": "#, "1}"]),
    ]

    @Test(arguments: lists.indices) func aLineEndIsNotQuoted(_ index: Int) throws {
        let (format, lines) = Self.lists[index]
        let unix = try read(lines.joined(separator: "\n") + "\n", as: format)
        let windows = try read(lines.joined(separator: "\r\n") + "\r\n", as: format)
        let rendered = windows.report.rendered(file: "f")
        #expect(!unix.faults.isEmpty || format == .csv, "\(lines)")
        #expect(!rendered.contains("\u{FFFD}") && !rendered.contains("\r"), "\(rendered)")
        #expect(rendered == unix.report.rendered(file: "f"))
    }
}
