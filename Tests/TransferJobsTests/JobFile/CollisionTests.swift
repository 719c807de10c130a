import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct CollisionTests {
    /// Returns the destinations that a list's jobs get.
    private func paths(
        _ urls: [String], _ rule: Collisions?, to destination: String = "./", isAlone: Bool = false
    ) throws -> (paths: [String], faults: [String]) {
        var (paths, faults): ([String], [String]) = ([], [])
        var reader = JobFileReader(
            format: .urlList, names: DestinationNames(rule, directory: "/d", isAlone: isAlone),
            destination: destination
        ) { _ in [] }
        _ = try reader.read(Array(urls.joined(separator: "\n").utf8)) { element in
            if case .job(let spec, _) = element { paths.append(spec.identity) }
            if case .fault(let fault) = element { faults.append(fault.message) }
        }
        return (paths, faults)
    }

    @Test func laterOnesGetNumbers() throws {
        let urls = ["https://a/f.bin", "https://b/f.bin", "https://c/f-2.bin", "https://d/f.bin", "https://e/f.bin?x"]
        let found = try paths(urls, .rename)
        #expect(found.paths == ["f.bin", "f-2.bin", "f-2-2.bin", "f-3.bin", "f-4.bin"])
        #expect(try paths(urls, .rename) == found)
    }

    @Test(arguments: [
        ("a", "a-2"), ("a.tar.gz", "a-2.tar.gz"), ("a.b.c", "a.b-2.c"), (".tar.gz", "_tar-2.gz"), ("", "index-2.html"),
    ])
    func theNumberStandsBeforeTheExtension(name: String, second: String) throws {
        #expect(try paths(["https://a/\(name)", "https://b/\(name)"], .rename).paths.last == second)
    }

    @Test func aPathIsMadeOfServerAndPath() throws {
        let urls = [
            "https://a/f.bin", "https://b.example:81/x/y/f.bin", "https://b.example:81/x/y/f.bin?v=2",
            "https://b/%2e%2e/%2e%2e/f.bin", "https://b//etc//f.bin",
        ]
        #expect(
            try paths(urls, .path, to: "in/").paths
                == [
                    "in/f.bin", "in/b.example_81/x/y/f.bin", "in/b.example_81/x/y/f-2.bin", "in/b/f.bin",
                    "in/b/etc/f.bin",
                ])
    }

    @Test(arguments: [Collisions.rename, .path])
    func theSameJobIsOne(rule: Collisions) throws {
        let urls = ["https://a/f", "https://b/f", "https://a/f", "https://b/f"]
        #expect(try paths(urls, rule).paths.count == 2)
    }

    /// Jobs that are accepted one by one are compared nowhere else.
    @Test func aStreamRefusesTheLaterJob() throws {
        let found = try paths(["https://a/f", "https://b/f", "https://a/f", "https://c/g"], nil, isAlone: true)
        #expect(found.paths == ["f", "g"])
        #expect(found.faults.count == 1)
        #expect(found.faults[0].contains("same destination") && found.faults[0].contains("rename"))
    }

    @Test(arguments: [JobFileFormat.json, .jsonLines])
    func aFileDeclaresItsRule(format: JobFileFormat) throws {
        let jobs = [
            #"{"download": "https://a/x", "to": "f"}"#, #"{"download": "https://b/x", "to": "./f"}"#,
            #"{"id": "i", "download": "https://c/x", "to": "f"}"#, #"{"download": "https://d/x", "to": "/d/f"}"#,
        ]
        let text =
            format == .json
            ? #"{"version": 1, "jobs": [\#(jobs.joined(separator: ", "))], "collisions": "rename"}"#
            : ([#"{"version": 1, "collisions": "rename"}"#] + jobs).joined(separator: "\n")
        for piece in [nil, 1, 50] {
            let reading = try read(text, as: format, piece: piece, directory: "/d")
            #expect(reading.batch?.collisions == .rename)
            #expect(reading.jobs.map(\.work.path) == ["f", "f-2", "f-3", "/d/f-4"])
        }
        let wrong = try read(#"{"version": 1, "collisions": "renmae", "jobs": []}"#)
        #expect(wrong.faults.count == 1 && wrong.faults[0].message.contains("rename"), "\(wrong.faults)")
    }

    @Test func anOptionIsStrongerThanTheFile() throws {
        var paths: [String] = []
        var reader = JobFileReader(format: .jsonLines, names: DestinationNames(.path)) { _ in [] }
        let lines = [
            #"{"version": 1, "collisions": "rename"}"#, #"{"download": "https://a/x", "to": "f"}"#,
            #"{"download": "https://b/x", "to": "f"}"#,
        ]
        _ = try reader.read(Array(lines.joined(separator: "\n").utf8)) { element in
            if case .job(let spec, _) = element { paths.append(spec.work.path) }
        }
        #expect(paths == ["f", "b/x"])
    }

    /// The detector keeps two hashes of a job, and nothing of its text.
    @Test func aMillionJobsAreDistinguishedInBoundedMemory() throws {
        var names = TakenNames()
        let isNew = (0..<2_000_000 as Range<UInt64>).allSatisfy { names.insert($0 &* 0x9E37_79B9_7F4A_7C15) }
        #expect(isNew && !names.insert(0) && !names.insert(0x9E37_79B9_7F4A_7C15))
        #expect(names.bytes <= 32 << 20)
    }
}
