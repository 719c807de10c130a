import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JobFileFaultTests {
    /// Members of a job on line 2 of a document, after 36 characters, and the fault that they cause.
    private static let jobs: [(String, String)] = [
        (#""chekcsum": "x""#, #"2:39:10 $.jobs[0].chekcsum unknown key "chekcsum"; did you mean "checksum"?"#),
        (#""zzzzzz": [1]"#, #"2:39:8 $.jobs[0].zzzzzz unknown key "zzzzzz""#),
        (#""priority": 1, "priority": 2"#, #"2:54:10 $.jobs[0].priority key "priority" occurs twice in this object"#),
        (#""x-a": 1, "x-a": 2"#, #"2:49:5 $.jobs[0]["x-a"] key "x-a" occurs twice in this object"#),
        (#""watch": {}"#, #"2:39:7 $.jobs[0].watch "watch" belongs to the file, beside "jobs""#),
        (#""id": 5"#, #"2:45:1 $.jobs[0].id expected a string, found a number"#),
        (#""id": """#, #"2:45:2 $.jobs[0].id the ID is empty"#),
        (#""id": "a/b""#, #"2:45:5 $.jobs[0].id an ID cannot hold a slash"#),
        (#""id": "a\tb""#, #"2:45:6 $.jobs[0].id an ID cannot hold control characters"#),
        (#""segments": 33"#, #"2:51:2 $.jobs[0].segments 33 is out of range; 1 to 32 are possible"#),
        (#""segments": 1.5"#, #"2:51:3 $.jobs[0].segments expected a whole number"#),
        (#""segments": "4""#, #"2:51:3 $.jobs[0].segments expected a number of connections or "auto""#),
        (
            #""segments": 4, "compressed": true"#,
            #"2:39:10 $.jobs[0].segments "segments" and "compressed" do not go together: what is compressed on its way has no parts that could be asked for; leave one of them out"#
        ),
        (#""compressed": 1"#, #"2:53:1 $.jobs[0].compressed expected true or false, found a number"#),
        (
            #""congestion": "BBR""#,
            #"2:53:5 $.jobs[0].congestion expected "auto", "system", or the name of a congestion control, such as "bbr""#
        ),
        (
            #""congestion": 1"#,
            #"2:53:1 $.jobs[0].congestion expected "auto", "system", or the name of a congestion control, such as "bbr", found a number"#
        ),
        (#""priority": 99999999999999999999"#, #"2:51:20 $.jobs[0].priority expected a whole number"#),
        (#""id": null"#, #"2:45:4 $.jobs[0].id expected a string, found null"#),
        (#""size": null"#, #"2:47:4 $.jobs[0].size expected a number, found null"#),
        (
            #""auth": {"user": null}"#,
            #"2:56:4 $.jobs[0].auth.user expected a string or an object that names a secret, found null"#
        ),
        (#""headers": {"A": null, "a": "x"}"#, #"2:62:3 $.jobs[0].headers.a header "a" occurs twice in this object"#),
        (
            #""ifExists": "overwrit""#,
            #"2:51:10 $.jobs[0].ifExists unknown value "overwrit"; did you mean "overwrite"?"#
        ),
        (
            #""ifExists": "?""#,
            #"2:51:3 $.jobs[0].ifExists unknown value "?"; verify, update, overwrite, skip, rename or fail are possible"#
        ),
        (#""needs": "a""#, #"2:48:3 $.jobs[0].needs expected an array of jobs' IDs, found a string"#),
        (#""needs": ["a", "a"]"#, #"2:54:3 $.jobs[0].needs[1] "a" is named twice"#),
        (
            #""timeout": "soon""#,
            #"2:50:6 $.jobs[0].timeout not a duration; write "30s", "5m", "1h30m" or a number of seconds"#
        ),
        (#""timeout": 0"#, #"2:50:1 $.jobs[0].timeout a duration above zero is needed"#),
        (#""timeout": []"#, #"2:50:1 $.jobs[0].timeout expected a duration such as "30s", found an array"#),
        (
            #""limitRate": "fast""#,
            #"2:52:6 $.jobs[0].limitRate not an amount of bytes; write "512K", "10M" or a number"#
        ),
        (#""retry": {"limt": 1}"#, #"2:49:6 $.jobs[0].retry.limt unknown key "limt"; did you mean "limit"?"#),
        (#""retry": {"base": 1}"#, #"2:57:1 $.jobs[0].retry.base 1 is out of range; 2 to 100 are possible"#),
        (
            #""retry": {"statusCodes": [200, 99]}"#,
            #"2:70:2 $.jobs[0].retry.statusCodes[1] 99 is out of range; 100 to 599 are possible"#
        ),
        (#""method": "G T""#, #"2:49:5 $.jobs[0].method not a method, such as "GET""#),
        (
            #""headers": {"A B": "x"}"#,
            #"2:51:5 $.jobs[0].headers["A B"] not the name of a header; letters, digits and !#$%&'*+-.^_`|~ are possible"#
        ),
        (
            #""headers": {"Content-Length": "3"}"#,
            #"2:51:16 $.jobs[0].headers["Content-Length"] Content-Length says where a body ends, and the transfer sets it automatically; leave it out"#
        ),
        (
            #""headers": {"A": "x\r\nB: y"}"#,
            #"2:56:11 $.jobs[0].headers.A a header's value cannot hold line breaks or other control characters"#
        ),
        (#""headers": {"A": "x", "a": "y"}"#, #"2:61:3 $.jobs[0].headers.a header "a" occurs twice in this object"#),
        (
            #""headers": {"A": {"env": "X", "file": "y"}}"#,
            #"2:56:1 $.jobs[0].headers.A a secret has one source; write {"env": "NAME"}, {"file": "PATH"} or {"credential": "NAME"}"#
        ),
        (#""checksum": "sha256:12""#, #"2:51:11 $.jobs[0].checksum sha256 has 64 hexadecimal digits, found 2"#),
        (
            #""checksum": "crc:12""#,
            #"2:51:8 $.jobs[0].checksum unknown algorithm "crc"; sha256, sha512, sha1 or md5 are possible"#
        ),
        (#""checksum": "md5:xy""#, #"2:51:8 $.jobs[0].checksum a checksum holds hexadecimal digits only"#),
        (
            #""checksum": "abc""#,
            #"2:51:5 $.jobs[0].checksum not a checksum; write "sha256:" and 64 hexadecimal digits"#
        ),
        (
            #""pieces": {"length": 4, "digests": []}"#,
            #"2:49:1 $.jobs[0].pieces write "pieces": {"length": BYTES, "digests": ["sha256:…", …]}: at least one byte a piece, and the digests of all of them by one algorithm"#
        ),
        (#""checksums": "none""#, #"2:52:6 $.jobs[0].checksums cannot read "none": no such file"#),
        (#""checksums": "empty""#, #"2:52:7 $.jobs[0].checksums "empty" holds no checksums"#),
        (#""checksums": "SUMS""#, #"2:39:11 $.jobs[0].checksums no checksum for "f" is listed"#),
        (
            #""proxy": "ftp://p""#,
            #"2:48:9 $.jobs[0].proxy unsupported scheme "ftp"; http, https, socks5 and socks5h are supported"#
        ),
        (
            #""tls": {"pins": ["sha256/x"]}"#,
            #"2:56:10 $.jobs[0].tls.pins[0] not a pin; write "sha256/" and 44 characters of base 64"#
        ),
        (#""tls": {"ca": ""}"#, #"2:53:2 $.jobs[0].tls.ca the path is empty"#),
        (
            #""auth": {"user": "a"}"#,
            #"2:47:1 $.jobs[0].auth "auth" holds either "netrc" (and perhaps a "user"), "bearer", or both "user" and "password""#
        ),
        (#""protocol": "put""#, #"2:39:10 $.jobs[0].protocol "protocol" belongs to an upload"#),
        (#""protocol": "ftp""#, #"2:39:10 $.jobs[0].protocol "protocol" belongs to an upload"#),
        (#""upload": "x""#, #"2:39:8 $.jobs[0].upload a job has either "download" or "upload", not both"#),
    ]

    @Test(arguments: jobs)
    func reportsTheFaultsOfAJobWithTheirPlaces(members: String, fault: String) throws {
        let sums = String(repeating: "0", count: 64) + "  other\n"
        let reading = try readJob(members, files: ["SUMS": sums, "empty": "x\n"])
        #expect(reading.lines.first == fault)
        #expect(reading.jobs.isEmpty)
        #expect(reading.report.jobCount == 1)
    }

    /// The URL of a download, and its fault.
    private static let urls: [(String, String)] = [
        ("gopher://h/f", #"unsupported scheme "gopher"; http, https, s3, ftp, ftps and sftp are supported"#),
        ("file:///etc/passwd", #"unsupported scheme "file"; http, https, s3, ftp, ftps and sftp are supported"#),
        ("http:///f", "the URL has no host"), ("http://:80/", "the URL has no host"), ("", "the URL is empty"),
        ("h/f", "not a URL; it begins with http://"), ("http:/h/f", "a URL has two slashes behind the colon"),
        ("http://h/a ", "the URL ends with a space; write %20 where it belongs to a name"),
        ("http://h h/a", "the URL's host is malformed"),
        (#"http://h/a\u000ab"#, "a URL cannot hold control characters"),
        ("http://h:99999/", "the URL's port is not a number from 1 to 65535"),
        ("http://[::1/", "the URL's IPv6 address is malformed"), ("http://h|x/", "the URL's host is malformed"),
    ]

    @Test(arguments: urls)
    func refusesURLsThatCannotWork(url: String, message: String) throws {
        let reading = try read(#"{"version": 1, "jobs": [{"download": ["http://ok/", "\#(url)"], "to": "f"}]}"#)
        #expect(reading.faults.map(\.message) == [message])
        #expect(reading.faults.first?.path == "$.jobs[0].download[1]")
    }

    @Test(arguments: [
        "http://h", "https://h:8443/a?b#c", "http://[::1]:80/", "HTTP://h/%20", "http://ü.example/é", "http://h/a b",
    ])
    func takesURLsThatWork(url: String) { #expect(URLRule.refusal(of: url) == nil) }

    /// Complete documents, and their faults.
    private static let documents: [(String, [String])] = [
        ("[]", ["1:1:1 $ expected an object, found an array"]),
        (#"{"jobs": []}"#, [#"1:1:1 $ "version" is missing; write "version": 1"#]),
        (#"{"version": 2, "jobs": []}"#, ["1:13:1 $.version version 2 is unknown; this program reads version 1"]),
        (#"{"version": 1}"#, [#"1:1:1 $ "jobs" or "watch" is missing"#]),
        (#"{"version": 1, "jobs": {}}"#, ["1:24:1 $.jobs expected an array, found an object"]),
        (#"{"version": 1, "jobs": [5]}"#, ["1:25:1 $.jobs[0] expected an object, found a number"]),
        (
            #"{"version": 1, "jobs": [{}]}"#,
            [#"1:25:1 $.jobs[0] "download" or "upload" is missing"#, #"1:25:1 $.jobs[0] "to" is missing"#]
        ),
        (
            #"{"version": 1, "jobs": [{"download": [], "to": "f"}]}"#,
            ["1:38:1 $.jobs[0].download at least one URL is needed"]
        ),
        (#"{"version": 1, "jobs": [{"download": "http://h/", "to": ""}]}"#, ["1:57:2 $.jobs[0].to the path is empty"]),
        (
            #"{"version": 1, "jobs": [{"download": "http://h/", "to": "a\u0000"}]}"#,
            ["1:57:9 $.jobs[0].to a path cannot hold a NUL character"]
        ),
        (
            #"{"version": 1, "jobs": [{"upload": "f", "to": "dir/f"}]}"#,
            ["1:47:7 $.jobs[0].to the \"to\" of an upload is a URL, not a path"]
        ),
        (
            #"{"version": 1, "jobs": [{"download": "http://h/", "to": "http://h/"}]}"#,
            ["1:57:11 $.jobs[0].to the source's URL has no name; say the destination's in full"]
        ),
        (
            #"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "checksum": "md5:x", "segments": 2}]}"#,
            [
                "1:72:7 $.jobs[0].checksum a checksum holds hexadecimal digits only",
                "1:81:10 $.jobs[0].segments \"segments\" belongs to a download",
            ]
        ),
        (
            #"{"version": 1, "defaults": {"checksum": "x", "concurrency": 1}, "jobs": []}"#,
            [
                #"1:29:10 $.defaults.checksum "checksum" belongs to a job, not to "defaults""#,
                #"1:46:13 $.defaults.concurrency "concurrency" belongs to "limits", not to "defaults""#,
            ]
        ),
        (
            #"{"version": 1, "limits": {"concurrency": 0, "perHost": "many", "requestRate": "20/d"}, "jobs": []}"#,
            [
                "1:42:1 $.limits.concurrency 0 is out of range; 1 to 10000 are possible",
                "1:56:6 $.limits.perHost expected a number or \"auto\"",
                "1:79:6 $.limits.requestRate not a rate of requests; write \"20/s\", \"100/m\" or a number a second",
            ]
        ),
        (#"{"version": 1, "nam": "x", "jobs": []}"#, [#"1:16:5 $.nam unknown key "nam"; did you mean "name"?"#]),
        (#"{"version": 1, "name": "a/b", "jobs": []}"#, ["1:24:5 $.name a batch's name cannot hold a slash"]),
    ]

    @Test(arguments: documents)
    func reportsTheFaultsOfADocument(text: String, faults: [String]) throws {
        #expect(try read(text).lines == faults)
    }

    @Test func findsEveryFaultInOneReading() throws {
        let reading = try read(
            """
            {"version": 1, "jobs": [
              {"download": "http://h/1", "to": "1", "priorty": 1, "segments": 0},
              {"download": "http://h/2", "to": "2"},
              {"download": "gopher://h/3", "to": "3"}]}
            """)
        #expect(reading.report.faultCount == 3 && reading.report.jobCount == 3)
        #expect(reading.jobs.count == 1 && reading.locations.first?.index == 1)
    }

    @Test func keepsTwentyFaultsAndCountsTheOthers() throws {
        let jobs = (0..<40).map { "{\"download\": \"http://h/\($0)\", \"to\": 1}" }.joined(separator: ",\n")
        let report = try read("{\"version\": 1, \"jobs\": [\(jobs)]}").report
        #expect(report.faults.count == 20 && report.faultCount == 40)
        #expect(report.summary(file: "j") == "j: 40 errors in 40 jobs, the first 20 of them shown; nothing was started")
    }
}
