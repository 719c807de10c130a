import Testing
import TransferCore

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// Rows of jobs that are packed into one value of the database, and unpacked unchanged.
@Suite struct JobPackTests {
    private func row(_ name: String, _ change: (inout JobRow) -> Void = { _ in }) -> JobRow {
        var row = JobRow(
            identity: "http://h.example/in/\(name)", span: SourceSpan(line: 3, column: 47, length: 35), number: 2,
            priority: 0, origin: "http://h.example", destination: "/out/\(name)", text: "{\"to\":\"/out/\(name)\"}",
            fingerprint: 0x0123_4567_89AB_CDEF, hasSecrets: false, isUpload: true, network: "")
        change(&row)
        return row
    }

    private func unpacked(_ bytes: [UInt8]) throws -> [JobRow] {
        var reader = try JobPackReader(bytes)
        var rows: [JobRow] = []
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    private var samples: [JobRow] {
        [
            row("f000001"), row("f000002"), row("f000002"), row(""),
            row("a longer name than the one before"), row("é") { $0.destination = "" },
            // The names share the first byte of their last character.
            row("è") { $0.origin = "" }, row("日本"), row("日曜"),
            row("place") {
                $0.span = nil
                $0.number = nil
            },
            row("numbers") {
                $0.span = SourceSpan(line: .max, column: 1, length: 1 << 40)
                $0.number = 0
                $0.priority = -1_000_000
                $0.fingerprint = .min
            },
            row("rules") {
                $0.networkPlaces = "metered=9:18"
                $0.network = "never"
                $0.hasSecrets = true
                $0.isUpload = false
                $0.priority = 1_000_000
                $0.fingerprint = -1
            },
            row("other rules") { $0.networkPlaces = "metered=9:19" }, row("none"),
            row("nothing written") { $0.networkPlaces = "" },
        ]
    }

    @Test func rowsComeOutAsTheyWentIn() throws {
        var pack = JobPack()
        for row in samples { pack.add(row) }
        #expect(pack.count == samples.count)
        #expect(try unpacked(pack.bytes) == samples)
        #expect(try unpacked(JobPack().bytes).isEmpty)
    }

    @Test func commonPartsOfJobsAreWrittenOnce() {
        var pack = JobPack()
        pack.add(row("f000001"))
        let first = pack.bytes.count
        pack.add(row("f000002"))
        #expect(pack.bytes.count - first < first / 2)
    }

    @Test func bytesThatAreNoPackAreRefused() throws {
        var pack = JobPack()
        for row in samples { pack.add(row) }
        for end in 0..<pack.bytes.count {
            // Between two rows the truncated value looks whole: the count beside it in the database reveals the missing
            // rows.
            let rows = try? unpacked(Array(pack.bytes[..<end]))
            #expect(rows.map { $0 == Array(samples.prefix($0.count)) } ?? true)
        }
        #expect(throws: TransferError.self) { try unpacked([]) }
        #expect(throws: TransferError.self) { try unpacked([2]) }
        #expect(throws: TransferError.self) { try unpacked([1, 0, 0] + Array(repeating: 0xFF, count: 60)) }
        // The length of the common prefix exceeds that of the previous text.
        #expect(throws: TransferError.self) { try unpacked([1, 0, 0] + Array(repeating: 0, count: 8) + [5, 0]) }
    }
}
