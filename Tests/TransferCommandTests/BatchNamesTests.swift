import Testing
import TransferQueue

@testable import transfer

/// The names of batches in messages, and the names by which commands find them.
@Suite struct BatchNamesTests {
    private let names = BatchNames([
        "nightly", "/etc/mirror.json", "/srv/a/jobs.json", "/srv/b/jobs.json", "/srv/c/jobs.txt", "/opt/nightly.jsonl",
        "watch:/srv/films", "etc", "/etc/x/list.txt", "get https://a.example/x in /home/me",
    ])

    @Test(
        arguments: [
            ("nightly", "nightly"), ("/etc/mirror.json", "mirror"), ("/srv/a/jobs.json", "a/jobs"),
            // Other job files of the same folder have a different type.
            ("/srv/c/jobs.txt", "jobs.txt"), ("/opt/nightly.jsonl", "nightly.jsonl"),
            ("watch:/srv/films", "watch:/srv/films"),
            ("/etc/x/list.txt", "list"), ("get https://a.example/x in /home/me", "get-a.example-10"),
        ])
    func aJobFileGivesItsBatchTheShortestNameThatNoOtherHas(_ name: String, _ short: String) throws {
        #expect(names.short(name) == short)
        #expect(try names.find(short) == name, "and it is found by that")
        #expect(try names.find(name) == name)
    }

    @Test func otherFormsOfThePathAreFoundToo() throws {
        #expect(try names.find("mirror.json") == "/etc/mirror.json")
        #expect(try names.find("etc/mirror") == nil, "it is a job of the batch etc")
        #expect(try names.find("/srv/films") == "watch:/srv/films")
        #expect(try names.find("srv/b/jobs.json") == "/srv/b/jobs.json")
        #expect(try names.find("nothing") == nil && names.find("") == nil)
    }

    @Test func aNameOfSeveralIsNoNameOfOne() {
        #expect {
            try names.find("jobs")
        } throws: { error in
            (error as? Failure)?.message == "\"jobs\" may be several batches: a/jobs, b/jobs, jobs.txt"
        }
    }

    @Test(
        arguments: [
            ("nightly", "nightly", nil), ("nightly/a/b", "nightly", "a/b"), ("mirror/x", "/etc/mirror.json", "x"),
            ("/etc/mirror.json/x/y", "/etc/mirror.json", "x/y"), ("a/jobs/x", "/srv/a/jobs.json", "x"),
            ("watch:/srv/films/a.mkv", "watch:/srv/films", "a.mkv"), ("unknown/job", "unknown", "job"),
            ("unknown", "unknown", nil), ("etc/mirror/j", "etc", "mirror/j"), ("etc/job", "etc", "job"),
        ] as [(String, String, String?)])
    func theLongestBatchCountsBeforeAJob(_ text: String, _ batch: String, _ job: String?) throws {
        let found = try names.split(text)
        #expect(found.batch == batch && found.job == job)
    }

    @Test func aPathThatIsAlsoAJobsNameIsNotShown() {
        let names = BatchNames(["x", "/x/jobs.json", "/y/jobs.json"])
        #expect(names.short("/x/jobs.json") == "/x/jobs.json" && names.short("/y/jobs.json") == "y/jobs")
    }

    // MARK: Names that stay valid later

    private static let gets = ["get https://a.example/x in /me", "get https://a.example/y in /me"]

    /// Returns a register with these batches of `get`, by their numbers.
    private static func names(_ batches: [(Int64, String)], last: Int64? = nil) -> BatchNames {
        let entries = batches.map { BatchRegister.Entry(name: $1, number: $0) }
        return BatchNames(BatchRegister(entries: entries, last: last ?? entries.last?.number ?? 0))
    }

    /// A name in a suggested command means that batch, or none, whatever other batches exist.
    @Test func aLastingNameMeansItsBatchOrNone() throws {
        let names = Self.names([(1, Self.gets[0])])
        let first = names.lasting(Self.gets[0])
        #expect(first == "get-a.example-1" && names.short(Self.gets[0]) == first)
        let later = Self.names([(1, Self.gets[0]), (2, Self.gets[1])])
        #expect(try later.find(first) == Self.gets[0] && later.split(first + "/x").batch == Self.gets[0])
        #expect(try later.find("get-a.example-y") == Self.gets[1], "as one may type it")
        let gone = Self.names([(2, Self.gets[1])])
        #expect(try gone.find(first) == nil && gone.find("get-a.example-2") == Self.gets[1])
        let again = Self.names([(2, Self.gets[1]), (3, Self.gets[0])])
        #expect(try again.find(first) == nil && again.find("get-a.example-3") == Self.gets[0])
    }

    /// A name, server, file or mark that ends like a number is not the lasting name of a different batch.
    @Test(
        arguments: [
            "get https://a.example/3 in /me", "get https://a.example/x +1 #000003 in /me",
            "get https://a.example-3/x in /me", "get a.example-3 in /me", "/srv/get-a.example-3.json",
            "/srv/get-a.example-3",
        ])
    func noShortFormIsAnothersLastingName(_ name: String) throws {
        for text in ["get-a.example-3", "get-a.example-000003"] {
            #expect(try Self.names([(7, name)]).find(text) == nil)
        }
        #expect(try Self.names([(7, name)]).find(Self.names([(7, name)]).lasting(name)) == name)
    }

    /// The path identifies the file: a part that is unique today may be ambiguous tomorrow.
    @Test func aJobFilesLastingNameIsItsPath() throws {
        #expect(names.short("/etc/mirror.json") == "mirror" && names.lasting("/etc/mirror.json") == "/etc/mirror.json")
        #expect(names.lasting("nightly") == "nightly" && names.lasting("watch:/srv/films") == "watch:/srv/films")
        #expect(try names.split("/etc/mirror.json/a/b") == ("/etc/mirror.json", "a/b"))
    }

    @Test(
        arguments: [
            ("put https://[::1]:8/in/ in /me", "put-5"), ("get Gr\u{FC}\u{DF}e.txt in /me", "get-5"),
            ("get - #0f1e2d in /", "get-stdin-5"), ("copy https://a.example/x in /me", "copy-a.example-5"),
            ("put https://b.example:81/in/ in /me", "put-b.example:81-5"),
        ])
    func aShellTakesItWithoutQuotes(_ name: String, _ called: String) throws {
        #expect(Self.names([(5, name)]).lasting(name) == called)
        #expect(try Self.names([(5, name)]).find(called) == name)
    }

    @Test(
        arguments: [
            ("get-a.example-2", true), ("get-a.example-3", false), ("get-a.example", true), ("put-x", true),
            ("get https://a.example/x in /me", true), ("get https://a.example/x in /me/x", true),
            ("nightly", false), ("get-", false), ("getting-1", false),
        ])
    func aFormerBatchIsKnownToBeForgotten(_ text: String, _ isForgotten: Bool) throws {
        let names = Self.names([], last: 2)
        #expect(names.isForgotten(text) == isForgotten)
        #expect(BatchNames().isForgotten(text) == false, "in a queue that never had one")
        let failure = CommandHint().noBatch(try names.split(text).batch, among: names).message
        #expect(failure.hasPrefix("no batch \"\(text)\" any more: ") == isForgotten, "\(failure)")
    }

    // MARK: Commands to copy

    @Test func commandsNameTheStateThatWasGiven() {
        #expect(CommandHint().command("status", "my batch") == "transfer status 'my batch'")
        #expect(CommandHint(state: "/srv/q 1").command("retry", "b/x") == "transfer retry b/x --state '/srv/q 1'")
        let again = RunAgain(
            file: "/etc/m.json", name: "m", directory: "/srv", state: "st", options: ["-j", "8", "--per-host", "2"])
        #expect(again.command == "transfer run /etc/m.json --name m -d /srv -j 8 --per-host 2 --state st")
    }
}
