import Testing
import TransferCore
import TransferQueueFixtures
import TransferWatch

@testable import TransferJobs

/// The entries of `"watch"`: their keys, and every fault with its place.
@Suite struct WatchEntryTests {
    /// Reads a document whose second line is one entry.
    private func readEntry(
        _ members: String, to url: String = "http://h/d/", defaults: String = "{}", directory: String? = "/srv"
    ) throws -> Reading {
        let comma = members.isEmpty ? "" : ", "
        return try read(
            """
            {"version": 1, "defaults": \(defaults), "watch": [
            {"folder": "in", "to": "\(url)"\(comma)\(members)}
            ]}
            """, directory: directory)
    }

    @Test func hasTheDocumentedDefaults() throws {
        let reading = try readEntry("")
        let spec = try #require(reading.watches.first)
        #expect(reading.lines.isEmpty && reading.watches.count == 1 && reading.report.watchCount == 1)
        #expect(spec.folder == "/srv/in")
        #expect(spec.url == "http://h/d/{name}")
        #expect(spec.rules == WatchRules())
        #expect(spec.settle == .seconds(2) && spec.order == .oldest)
        #expect(spec.then == .keep && spec.keepFor == nil)
        #expect(!spec.isNewOnly && !spec.verifiesDigest)
        #expect(spec.upload.uploadProtocol == .put && spec.priority == 0 && spec.settings == JobSettings())
    }

    @Test func readsEveryKeyOfItsOwn() throws {
        let reading = try readEntry(
            """
            "include": ["*.mp4", "*.mov"], "exclude": "raw/", "recursive": true, "settle": "500ms",
            "then": {"move": "../done/"}, "keepFor": "7d", "newOnly": true, "order": "smallest", "checksum": true
            """)
        let spec = try #require(reading.watches.first, "\(reading.lines)")
        #expect(spec.rules.include.map(\.text) == ["*.mp4", "*.mov"])
        #expect(spec.rules.exclude.map(\.text) == ["raw/"])
        #expect(spec.rules.isRecursive && spec.url == "http://h/d/{path}")
        #expect(spec.settle == .milliseconds(500))
        #expect(spec.then == .move(to: "/done"))
        #expect(spec.keepFor == .seconds(7 * 86_400))
        #expect(spec.isNewOnly && spec.order == .smallest && spec.verifiesDigest)
    }

    @Test func mergesTheDefaultsAsAJobDoes() throws {
        let reading = try readEntry(
            #""protocol": "tus", "chunkSize": "1M", "headers": {"B": "2"}, "network": {"metered": "forbid"}, "priority": 3"#,
            defaults: """
                {"retry": {"limit": 3}, "headers": {"A": "1"}, "network": {"prefer": ["wifi"]}, "segments": 4, "parallel": 2}
                """)
        let spec = try #require(reading.watches.first, "\(reading.lines)")
        #expect(spec.settings.retry.limit == 3 && spec.settings.headers.map(\.name) == ["A", "B"])
        #expect(spec.settings.network.metered == .forbid && !spec.settings.network.prefer.isEmpty)
        #expect(spec.upload.uploadProtocol == .tus && spec.upload.options.chunkSize == 1 << 20)
        #expect(spec.upload.options.parallel == 2 && spec.priority == 3)
        // The server chooses the names.
        #expect(spec.url == "http://h/d/")
    }

    @Test(arguments: [
        ("http://h/d", "false", "http://h/d/{name}"), ("http://h/d/", "true", "http://h/d/{path}"),
        ("http://h/d/?v={date}", "false", "http://h/d/{name}?v={date}"),
        ("http://h/{sha256}", "true", "http://h/{sha256}"),
        ("s3://bucket/{host}", "true", "s3://bucket/{host}/{path}"), ("http://h/{path}", "false", "http://h/{path}"),
    ])
    func completesTheURL(_ url: String, _ isRecursive: String, _ completed: String) throws {
        let reading = try readEntry("\"recursive\": \(isRecursive)", to: url)
        #expect(reading.lines.isEmpty)
        #expect(reading.watches.first?.url == completed)
        #expect((reading.watches.first?.upload.uploadProtocol == .s3) == url.hasPrefix("s3:"))
    }

    @Test func relativePathsStartFromTheDirectoryAndStayRelativeWithoutOne() throws {
        let members = #""then": {"move": "./done"}"#
        let absolute = try #require(try readEntry(members, directory: "/data/x").watches.first)
        #expect(absolute.folder == "/data/x/in" && absolute.then == .move(to: "/data/x/done"))
        let relative = try #require(try readEntry(members, directory: nil).watches.first)
        #expect(relative.folder == "in" && relative.then == .move(to: "done"))
    }

    @Test func entriesStandBesideJobsAndAreNotCountedAsJobs() throws {
        let reading = try read(
            """
            {"version": 1, "jobs": [{"download": "http://h/a", "to": "a"}],
             "watch": [{"folder": "/a", "to": "http://h/"}, {"folder": "/b", "to": "http://h/"}],
             "defaults": {"priority": 7}}
            """)
        #expect(reading.lines.isEmpty && reading.jobs.count == 1 && reading.report.jobCount == 1)
        #expect(reading.watches.map(\.folder) == ["/a", "/b"] && reading.watches.allSatisfy { $0.priority == 7 })
        #expect(reading.watchLocations.map(\.path) == ["$.watch[0]", "$.watch[1]"])
        #expect(
            reading.watchLocations.map(\.folder) == [
                .init(line: 2, column: 23, length: 4), .init(line: 2, column: 60, length: 4),
            ])
    }

    @Test(arguments: [nil, 1, 7])
    func entriesStandInTheFirstLineOfJSONLines(piece: Int?) throws {
        let reading = try read(
            """
            {"version": 1, "watch": [{"folder": "/a", "to": "http://h/"}], "defaults": {"priority": 7}}
            {"download": "http://h/a", "to": "a"}
            """, as: .jsonLines, piece: piece)
        #expect(reading.lines.isEmpty && reading.jobs.count == 1)
        #expect(reading.watches.map(\.folder) == ["/a"] && reading.watches.first?.priority == 7)
    }

    /// Members of an entry on line 2 of a document, after 36 characters, and the fault that they cause.
    private static let faults: [(String, String)] = [
        (#""inclde": "x""#, #"2:39:8 $.watch[0].inclde unknown key "inclde"; did you mean "include"?"#),
        (#""segments": 2"#, #"2:39:10 $.watch[0].segments "segments" belongs to a job, not to "watch""#),
        (#""watch": 1"#, #"2:39:7 $.watch[0].watch "watch" belongs to the file, beside "jobs", not to "watch""#),
        (#""folder": "b""#, #"2:39:8 $.watch[0].folder key "folder" occurs twice in this object"#),
        (#""include": "[a""#, #"2:50:4 $.watch[0].include "[a" is no pattern for names: a bracket is not closed"#),
        (
            #""exclude": ["a", "{b"]"#,
            #"2:56:4 $.watch[0].exclude[1] "{b" is no pattern for names: a brace is not closed"#
        ),
        (#""include": 1"#, #"2:50:1 $.watch[0].include expected a pattern or an array of patterns, found a number"#),
        (#""recursive": "yes""#, #"2:52:5 $.watch[0].recursive expected true or false, found a string"#),
        (#""settle": 0"#, #"2:49:1 $.watch[0].settle a duration above zero is needed"#),
        (
            #""then": "remove""#,
            #"2:47:8 $.watch[0].then unknown value "remove"; "keep", "delete" or {"move": "FOLDER"} are possible"#
        ),
        (#""then": true"#, #"2:47:4 $.watch[0].then expected "keep", "delete" or {"move": "FOLDER"}, found true"#),
        (#""then": {}"#, #"2:47:1 $.watch[0].then "move" is missing; write {"move": "FOLDER"}"#),
        (#""then": {"mov": "x"}"#, #"2:48:5 $.watch[0].then.mov unknown key "mov"; did you mean "move"?"#),
        (#""then": {"move": ""}"#, #"2:56:2 $.watch[0].then.move the path is empty"#),
        (
            #""then": {"move": "./x/../in/"}"#,
            #"2:56:12 $.watch[0].then.move files cannot be moved to where they are watched; name another folder"#
        ),
        (
            #""recursive": true, "then": {"move": "in/done"}"#,
            #"2:75:9 $.watch[0].then.move files cannot be moved to where they are watched, which is in sub-folders too; name a folder outside, or exclude it"#
        ),
        (
            #""keepFor": "7d""#,
            #"2:50:4 $.watch[0].keepFor files that are kept stay for good; choose to move or delete them instead"#
        ),
        (#""order": "oldst""#, #"2:48:7 $.watch[0].order unknown value "oldst"; did you mean "oldest"?"#),
        (#""fields": {"a": "b"}"#, #"2:39:8 $.watch[0].fields "fields" is for the protocol "multipart", not "put""#),
        (#""headers": {"Authorization": "x"}"#, #"2:68:3 $.watch[0].headers.Authorization"#),
    ]

    @Test(arguments: faults) func reportsEveryFaultWithItsPlace(_ members: String, _ fault: String) throws {
        let reading = try readEntry(members)
        #expect(reading.lines.count == 1 && reading.lines[0].hasPrefix(fault), "\(reading.lines)")
        #expect(reading.watches.isEmpty && reading.report.faultCount == 1)
    }

    @Test(arguments: [
        ("http://h/{file}", #"{file} stands for nothing; known are {name}, {path}, {date}, {sha256}, {host}"#),
        ("http://h/{name", "a brace is not closed; known are {name}, {path}, {date}, {sha256}, {host}"),
        ("d/x", #"the "to" of an upload is a URL, not a path"#),
        ("http://{host}/", "the URL's host is malformed"),
        ("http://u:p@h/", "a URL cannot carry a user or a password"),
        (
            "http://h/{name}?recursive",
            "files of one name in two folders would have the same URL; write {path} instead of {name}"
        ),
    ])
    func reportsTheFaultOfTheURL(_ url: String, _ message: String) throws {
        let reading = try readEntry(url.hasSuffix("recursive") ? "\"recursive\": true" : "", to: url)
        let fault = try #require(reading.faults.first)
        #expect(
            reading.faults.count == 1 && fault.path == "$.watch[0].to" && fault.message.hasPrefix(message), "\(fault)")
        #expect(fault.span == SourceSpan(line: 2, column: 24, length: url.count + 2))
    }

    @Test func anExcludedSubfolderCanTakeFinishedFiles() throws {
        let reading = try readEntry(#""recursive": true, "exclude": "done/", "then": {"move": "in/done/today"}"#)
        #expect(reading.lines.isEmpty && reading.watches.first?.then == .move(to: "/srv/in/done/today"))
        #expect(try readEntry(#""then": {"move": "in/done"}"#).lines.isEmpty, "sub-folders are not watched")
    }

    @Test func oneFolderIsWatchedOnce() throws {
        let reading = try read(
            """
            {"version": 1, "watch": [
              {"folder": "/srv/in", "to": "http://h/a/"},
              {"folder": "in/.", "to": "http://h/b/"}
            ]}
            """, directory: "/srv")
        #expect(reading.lines == ["3:14:6 $.watch[1].folder same folder as another entry (line 2)"])
        #expect(reading.watches.count == 1)
    }

    /// A chain of uploads from folder to folder ends; a circle of folders would never end.
    @Test(arguments: [
        (#""/b"}"#, #""/c"}"#, #""keep""#, [String]()),
        (
            #""/b"}"#, #""/c"}"#, #"{"move": "/a"}"#,
            [
                "4:57:4 $.watch[2].then.move files would be uploaded and moved round for ever: what is moved here ends where it came from (lines 4, 2 and 3)"
            ]
        ),
        (
            #""/b"}"#, #""/a/sub"}, "recursive": false"#, #""keep""#,
            [
                "3:57:8 $.watch[1].then.move files would be uploaded and moved round for ever: what is moved here ends where it came from (lines 3 and 2)"
            ]
        ),
        (#""/b"}, "include": "*.a""#, #""/a"}, "include": "*.b""#, #""keep""#, []),
    ]) func circlesOfUploadsAreRefused(_ first: String, _ second: String, _ third: String, _ faults: [String]) throws {
        let reading = try read(
            """
            {"version": 1, "watch": [
             {"folder": "/a", "to": "http://h/a/", "recursive": true, "then": {"move": \(first)},
             {"folder": "/b", "to": "http://h/b/", "then": {"move": \(second)},
             {"folder": "/c", "to": "http://h/c/", "then": \(third)}
            ]}
            """)
        #expect(reading.lines == faults)
    }

    @Test func aMissingKeyIsReported() throws {
        let reading = try read(#"{"version": 1, "watch": [{}]}"#)
        #expect(
            reading.lines == [
                #"1:26:1 $.watch[0] "folder" is missing"#, #"1:26:1 $.watch[0] "to" is missing"#,
            ])
        #expect(try read(#"{"version": 1}"#).lines == [#"1:1:1 $ "jobs" or "watch" is missing"#])
        #expect(try read(#"{"version": 1, "watch": 5}"#).lines == ["1:25:1 $.watch expected an array, found a number"])
    }

    @Test func aFaultLeavesTheOtherEntriesAndTheJobsToBeRead() throws {
        let reading = try read(
            """
            {"version": 1, "watch": [{"folder": 5, "to": "http://h/"}, {"folder": "/b", "to": "http://h/"}],
             "jobs": [{"download": "http://h/a", "to": "a"}, {"download": 1, "to": "b"}]}
            """)
        #expect(reading.faults.map(\.path) == ["$.watch[0].folder", "$.jobs[1].download"])
        #expect(reading.watches.map(\.folder) == ["/b"] && reading.jobs.count == 1)
    }
}
