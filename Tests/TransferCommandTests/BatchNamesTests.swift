import Testing

@testable import transfer

/// What batches are called where people read it, and by what they are found.
@Suite struct BatchNamesTests {
    private let names = BatchNames([
        "nightly", "/etc/mirror.json", "/srv/a/jobs.json", "/srv/b/jobs.json", "/srv/c/jobs.txt", "/opt/nightly.jsonl",
        "watch:/srv/films", "etc", "/etc/x/list.txt", "get https://a.example/x in /home/me",
    ])

    @Test(
        arguments: [
            ("nightly", "nightly"), ("/etc/mirror.json", "mirror"), ("/srv/a/jobs.json", "a/jobs"),
            // The others of its folder's name have another type.
            ("/srv/c/jobs.txt", "jobs.txt"), ("/opt/nightly.jsonl", "nightly.jsonl"),
            ("watch:/srv/films", "watch:/srv/films"),
            ("/etc/x/list.txt", "list"), ("get https://a.example/x in /home/me", "get-a.example"),
        ])
    func aJobFileGivesItsBatchTheShortestNameThatNoOtherHas(_ name: String, _ short: String) throws {
        #expect(names.short(name) == short)
        #expect(try names.find(short) == name, "and it's found by that")
        #expect(try names.find(name) == name)
    }

    @Test func otherFormsOfThePathAreFoundToo() throws {
        #expect(try names.find("mirror.json") == "/etc/mirror.json")
        #expect(try names.find("etc/mirror") == nil, "it's a job of the batch etc")
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

    // MARK: Commands to copy

    @Test func commandsNameTheStateThatWasGiven() {
        #expect(CommandHint().command("status", "my batch") == "transfer status 'my batch'")
        #expect(CommandHint(state: "/srv/q 1").command("retry", "b/x") == "transfer retry b/x --state '/srv/q 1'")
        let again = RunAgain(
            file: "/etc/m.json", name: "m", directory: "/srv", state: "st", options: ["-j", "8", "--per-host", "2"])
        #expect(again.command == "transfer run /etc/m.json --name m -d /srv -j 8 --per-host 2 --state st")
    }
}
