import Foundation
import Testing
import TransferQueueFixtures

@testable import TransferJobs

/// A new key of a job needs one row of the table and a property of the type that has its value, and no other change.
@Suite struct JobFieldTests {
    /// The toy key stores its value in the property of `maxRedirects`.
    private static let toy = JobField(
        settings: Field(
            "patience", \.maxRedirects, .integer(0...9), standard: "3", identity: .counted, "How patient the job is."))

    private let fields = JobFields(JobFields.all.rows.filter { $0.key != "maxRedirects" } + [toy])

    private func read(_ text: String) throws -> Reading {
        var reading = Reading()
        var reader = JobFileReader(format: .json) { _ in [] }
        reader.decoder = JobDecoder(
            JSONReader(UnsafeBufferPointer(start: nil, count: 0)), sums: ChecksumSource { _ in [] }, fields: fields)
        reading.report = try reader.read(Array(text.utf8)) { element in
            switch element {
            case .job(let spec, _): reading.jobs.append(spec)
            case .watch(let spec, _): reading.watches.append(spec)
            case .fault(let fault): reading.faults.append(fault)
            case .batch: break
            }
        }
        return reading
    }

    private func job(_ members: String, defaults: String = "{}") throws -> Reading {
        try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"download": "http://h/f", "to": "f"\#(members)}]}"#)
    }

    @Test func aNewKeyIsDecodedInJobsDefaultsAndWatchedFolders() throws {
        #expect(try job(#", "patience": 5"#).jobs.first?.settings.maxRedirects == 5)
        #expect(try job("", defaults: #"{"patience": 5}"#).jobs.first?.settings.maxRedirects == 5)
        #expect(try job(#", "patience": 6"#, defaults: #"{"patience": 5}"#).jobs.first?.settings.maxRedirects == 6)
        let watched = try read(
            #"{"version": 1, "watch": [{"folder": "/in", "to": "http://h/{name}", "patience": 7}]}"#)
        #expect(watched.watches.first?.settings.maxRedirects == 7)
    }

    @Test func aNewKeyHasTheFaultsOfEveryKey() throws {
        #expect(
            try job(#", "patience": 10"#).lines == [
                "1:91:2 $.jobs[0].patience 10 is out of range; 0 to 9 are possible"
            ])
        #expect(
            try job(#", "patient": 1"#).faults.map(\.message) == [
                "unknown key \"patient\"; did you mean \"patience\"?"
            ])
        #expect(
            try job(#", "patience": 1, "patience": 2"#).faults.map(\.message) == [
                "key \"patience\" occurs twice in this object"
            ])
    }

    @Test func aNewKeyIsInTheCanonicalText() throws {
        let spec = try #require(try job(#", "patience": 5"#).jobs.first)
        let text = spec.canonicalJSON(fields)
        #expect(text == #"{"download":"http://h/f","to":"f","patience":5}"#)
        #expect(try JobSpec(canonicalJSON: text, fields) == spec)
        #expect(try job("").jobs.first?.canonicalJSON(fields) == #"{"download":"http://h/f","to":"f"}"#)
    }

    @Test func aNewKeyIsInTheFingerprintAndOldFingerprintsStay() throws {
        let plain = try #require(try job("").jobs.first)
        let patient = try [3, 5].map { try #require(try job(", \"patience\": \($0)").jobs.first) }
        #expect(fields.fingerprint(of: plain) == plain.fingerprint)
        #expect(Set(([plain] + patient).map(fields.fingerprint)).count == 3)
        #expect(Self.toy.isPartOfFingerprint && !Self.toy.isSecret)
    }

    @Test func aNewKeyIsInTheSchemaAndTheManualPage() throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let tables = JobFileTables(fields: fields)
        let file = try String(
            contentsOf: root.appendingPathComponent("jobs/transfer-jobs.schema.json"), encoding: .utf8)
        let object = try JSONSerialization.jsonObject(with: Data(tables.schema(file).utf8))
        let schema = JSONSchema(root: try #require(object as? [String: Any]))
        for (value, isValid) in [("9", true), ("10", false), ("\"much\"", false)] {
            for text in [
                #"{"version": 1, "jobs": [{"download": "http://h/f", "to": "f", "patience": \#(value)}]}"#,
                #"{"version": 1, "jobs": [], "defaults": {"patience": \#(value)}}"#,
                #"{"version": 1, "watch": [{"folder": "f", "to": "http://h/d/", "patience": \#(value)}]}"#,
            ] {
                #expect(schema.accepts(try JSONSerialization.jsonObject(with: Data(text.utf8))) == isValid, "\(text)")
                #expect(try read(text).faults.isEmpty == isValid, "\(text)")
            }
        }
        #expect(schema.definition("patience")["default"] as? Int == 3)
        let page = try String(contentsOf: root.appendingPathComponent("man/transfer-jobs.5"), encoding: .utf8)
        #expect(
            tables.manual(page).contains(".It Cm patience\nHow patient the job is. By default 3.\n"))
    }
}
