import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct DestinationTemplateTests {
    @Test(arguments: [
        ("{host}/{path}", "https://H.example/a/b.iso?x=1", "h.example/a/b.iso"),
        ("{host}/{name}", "http://h.example:8080/a/b.iso", "h.example_8080/b.iso"),
        ("in/{n:04}.{ext}", "https://h/a.tar.gz", "in/0007.gz"),
        ("{n}-{name}", "https://h/a%20b.bin", "7-a b.bin"),
        ("{date}/{name}", "https://h/", "2026-03-01/index.html"),
        ("{name}_{query}", "https://h/a?id=5&sig=SECRET&v=2", "a_id=5&v=2"),
        ("{path}", "https://h/a/b/", "a/b/index.html"),
        ("x{{name}", "https://h/a", "x{name}"),
        ("{1}{}{a b}{", "https://h/a", "{1}{}{a b}{"),
        ("{3F2504E0-4F89}", "https://h/a", "{3F2504E0-4F89}"),
    ])
    func eachPlaceholderIsExpanded(template: String, url: String, path: String) {
        #expect(DestinationTemplate.refusal(of: template) == nil)
        let turn = DestinationTemplate.Turn(number: 7, date: "2026-03-01")
        #expect(DestinationTemplate.expanded(template, url: url, turn) == path)
    }

    /// A server that chooses its URLs can choose no place outside the folder, and no hidden file.
    @Test(arguments: [
        ("in/{path}", "https://h/../../etc/passwd", "in/etc/passwd"),
        ("in/{path}", "https://h/%2e%2e/%2e%2e/x", "in/x"),
        ("in/{path}", "https://h/..%2F..%2Fx", "in/_._.._x"),
        ("in/{path}", "https://h//etc//passwd", "in/etc/passwd"),
        ("in/{name}", "https://h/a/.bashrc", "in/_bashrc"),
        ("in/{name}", "https://h/a%00%0a%1b%5b2J", "in/a___[2J"),
        ("in/{query}/x", "https://h/a?../../y", "in/_._.._y/x"),
        ("in/.{ext}", "https://h/a", "in/_"),
        ("in/..{ext}", "https://h/a", "in/_"),
        ("{name}.{ext}", "https://h/plain", "plain"),
    ])
    func noValueLeavesTheFolder(template: String, url: String, path: String) {
        let found = DestinationTemplate.expanded(template, url: url, .init(date: "2026-03-01"))
        #expect(found == path)
        #expect(!found.split(separator: "/").contains(".."))
    }

    @Test func aLongNameIsCutAndStaysOne() {
        let long = String(repeating: "ä", count: 300)
        let turn = DestinationTemplate.Turn(date: "")
        let names = ["1", "2"].map {
            DestinationTemplate.expanded("{query}.bin", url: "https://h/a?\(long)\(long)\($0)", turn)
        }
        #expect(names.allSatisfy { $0.utf8.count <= 255 && $0.hasSuffix(".bin") })
    }

    @Test(arguments: ["{nmae}", "{Host}/x", "{name:04}", "{n:x}", "{n:0}", "{n:99}"])
    func anUnknownPlaceholderIsReportedWithTheKnownOnes(template: String) throws {
        let message = try #require(DestinationTemplate.refusal(of: template))
        #expect(message.contains("{n"), "\(message)")
        let job = #"{"version": 1, "jobs": [{"download": "https://h/a", "to": "\#(template)"}]}"#
        #expect(try read(job).faults.map(\.message) == [message])
        #expect(try read("https://h/a\n out=\(template)\n", as: .urlList).faults.map(\.message) == [message])
    }

    @Test(arguments: ["a{name}b", "{{", "{", "{}", "plain", "{n:04}"])
    func anEscapedPathIsItself(path: String) {
        let turn = DestinationTemplate.Turn(date: "")
        #expect(DestinationTemplate.expanded(DestinationNames.escaped(path), url: "https://h/x", turn) == path)
    }

    /// The path in the database is not expanded again, as a name may contain text that looks like a placeholder.
    @Test func theRecordHoldsThePath() throws {
        let reading = try read(
            #"{"version": 1, "jobs": [{"download": "https://h/a.b", "to": "{n:02}/{{name}.{ext}"}]}"#)
        let spec = try #require(reading.jobs.first)
        #expect(spec.work.path == "01/{name}.b")
        let stored = try JobSpec(canonicalJSON: spec.canonicalJSON)
        #expect(stored.work.path == "01/{name}.b")
    }

    @Test(arguments: [JobFileFormat.json, .jsonLines, .urlList])
    func theNumberIsThatOfTheJobInItsFile(format: JobFileFormat) throws {
        let urls = ["https://h/a", "https://h/b"]
        let jobs = urls.map { #"{"download": "\#($0)", "to": "{n}"}"# }
        let text =
            switch format {
            case .json: #"{"version": 1, "jobs": [\#(jobs.joined(separator: ", "))]}"#
            case .jsonLines: #"{"version": 1}"# + "\n" + jobs.joined(separator: "\n")
            default: urls.map { "\($0)\n out={n}" }.joined(separator: "\n")
            }
        #expect(try read(text, as: format).jobs.map(\.work.path) == ["1", "2"])
    }
}
