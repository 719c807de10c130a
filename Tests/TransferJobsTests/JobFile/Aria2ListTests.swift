import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The options of aria2's input file that other lists do not have.
@Suite struct Aria2ListTests {
    private static let mapped: [(String, @Sendable (JobSpec) -> Bool)] = [
        ("user-agent=me 1", { $0.settings.headers == [.init(name: "User-Agent", value: .literal("me 1"))] }),
        ("referer=http://r/", { $0.settings.headers == [.init(name: "Referer", value: .literal("http://r/"))] }),
        ("all-proxy=p:3128\n no-proxy=a", { $0.settings.proxy == .init(url: "http://p:3128", noProxy: "a") }),
        ("http-proxy=http://p:1\n all-proxy=http://p:2", { $0.settings.proxy?.url == "http://p:1" }),
        ("all-proxy=http://p:2\n http-proxy=http://p:1", { $0.settings.proxy?.url == "http://p:1" }),
        ("ftp-proxy=http://p:1", { $0.settings.proxy == nil }),
        ("max-tries=3", { $0.settings.retry.limit == 2 }), ("max-tries=0", { $0.settings.retry.limit == 1_000_000 }),
        ("retry-wait=5", { $0.settings.retry.scale == .seconds(5) && $0.settings.retry.maxDelay == .seconds(5) }),
        ("split=8", { $0.download?.segments == .exactly(8) }),
        ("split=8\n max-connection-per-server=4", { $0.download?.segments == .exactly(4) }),
        ("max-connection-per-server=64", { $0.download?.segments == .exactly(32) }),
        ("max-download-limit=1M", { $0.settings.limitRate == 1 << 20 }),
        ("max-download-limit=0", { $0.settings.limitRate == nil }),
        ("lowest-speed-limit=1K", { $0.settings.lowSpeed?.rate == 1024 }),
        (
            "timeout=30\n connect-timeout=5",
            { $0.settings.timeout == .seconds(30) && $0.settings.connectTimeout == .seconds(5) }
        ),
        ("allow-overwrite=true", { $0.download?.ifExists == .overwrite }),
        ("allow-overwrite=false", { $0.download?.ifExists == .verify }),
        ("conditional-get=true\n allow-overwrite=true", { $0.download?.ifExists == .update }),
        ("check-certificate=false", { $0.settings.tls.insecure }),
        ("check-certificate=true", { !$0.settings.tls.insecure }),
        ("ca-certificate=ca.pem", { $0.settings.tls.ca == "ca.pem" }),
        ("load-cookies=c.txt", { $0.settings.http.cookies == "c.txt" }),
        ("remote-time=false", { $0.download?.remoteTime == false }),
        ("no-netrc=false", { $0.settings.auth == .netrc() }),
        ("http-no-cache=true", { $0.settings.headers == [.init(name: "Cache-Control", value: .literal("no-cache"))] }),
        ("ftp-pasv=false", { $0.settings.ftp?.active == true }),
        (
            "continue=true\n auto-file-renaming=false\n min-split-size=1M\n pause=false",
            { $0.settings == JobSettings() }
        ),
        (
            "out=x\n dir=d\n --split=2\n header=X-A: 1",
            {
                $0.download?.destination == "d/x" && $0.settings.headers.count == 1
                    && $0.download?.segments == .exactly(2)
            }
        ),
    ]

    @Test(arguments: mapped.indices) func anOptionIsAKey(index: Int) throws {
        let (lines, holds) = Self.mapped[index]
        let reading = try read("http://h/f\n \(lines)\nhttp://h/g\n", as: .urlList)
        #expect(reading.lines == [] && reading.report.leftOut.isEmpty, "\(lines)")
        let job = try #require(reading.jobs.first)
        #expect(reading.jobs.count == 2 && holds(job), "\(lines): \(reading.jobs)")
        // The next entry inherits none of these settings.
        #expect(reading.jobs.last?.settings == JobSettings())
    }

    /// A further option without effect leaves the job the same.
    @Test func anEntryIsTheSameJobWithOptionsThatDoNothing() throws {
        let sum = String(repeating: "a", count: 64)
        let entry = "http://h/f\thttp://i/f\n out=x\n checksum=sha-256=\(sum)\n header=X-A: 1\n"
        let plain = try read(entry, as: .urlList).jobs
        #expect(try read(entry + " max-download-limit=0\n remote-time=true\n", as: .urlList).jobs == plain)
        #expect(plain.count == 1)
    }

    @Test(arguments: [
        ("pause=true", "2:8:4  pause=true: no job of a list begins paused"),
        ("dry-run=true", "2:10:4  dry-run=true: -n shows"),
        ("hash-check-only=true", "2:18:4  hash-check-only=true: `transfer verify"),
        ("parameterized-uri=true", "2:20:4  parameterized-uri=true: a URL is not a pattern"),
        ("ftp-type=ascii", "2:11:5  ftp-type=ascii: bytes are moved as they are"),
        ("split=many", "2:8:4  not a whole number"),
        ("max-tries=-1", "2:12:2  not a whole number"), ("timeout=soon", "2:10:4  not a duration"),
        ("splti=4", #"2:2:5  unsupported option "splti"; did you mean "split"?"#),
        ("http://h/g", "2:2:10  an indented line holds an option of the URL before it"),
        ("http-passwd=s3cret", "2:14:6  http-passwd: a password is named, never written"),
        ("http-user=me", "2:12:2  http-user: a password is named"),
        ("all-proxy=http://me:s3cret@p:1", "2:12:20  a proxy's login is named"),
        ("all-proxy-passwd=s3cret", "2:19:6  all-proxy-passwd: a proxy's login is named"),
    ])
    func anOptionThatChangesTheDownloadIsAFault(line: String, fault: String) throws {
        let reading = try read("http://h/f\n \(line)\nhttp://ok/\n", as: .urlList)
        #expect(reading.lines.count == 1 && reading.lines.first?.hasPrefix(fault) == true, "\(reading.lines)")
        #expect(reading.jobs.map { $0.download?.urls } == [["http://ok/"]])
        #expect(!reading.report.rendered(file: "f").contains("s3cret"))
    }

    @Test func ignoredOptionsAreReportedInOneLine() throws {
        let reading = try read(
            "http://h/f\n gid=0123456789abcdef\n seed-time=0\nhttp://h/g\n gid=1123456789abcdef\n unheard-of-thing=1\n",
            as: .urlList)
        #expect(reading.lines == [] && reading.jobs.count == 2)
        #expect(
            reading.report.warnings == [
                "3 options of the aria2 list were left out: gid (2 times, first in line 2), seed-time (line 3), "
                    + "unheard-of-thing (line 6)"
            ])
    }

    /// A list of wget has no options: an indented line is a URL, too.
    @Test func aListOfURLsAloneHasNoOptions() throws {
        let reading = try read("http://h/f\n  http://h/g\n# x\n\thttp://h/h\n", as: .plainURLs)
        #expect(
            reading.lines == []
                && reading.jobs.map { $0.download?.urls } == [["http://h/f"], ["http://h/g"], ["http://h/h"]])
        #expect(try read("http://h/f\n  out=x\n", as: .plainURLs).lines == ["2:3:5  not a URL; it begins with http://"])
    }
}
