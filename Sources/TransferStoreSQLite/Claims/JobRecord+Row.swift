import FoundationEssentials
package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
import TransferStore

extension JobRecord {
    /// - Parameter row: The columns that ``Claims`` reads.
    package init(_ row: Row, batch: Int64, secrets: JobSecrets?) throws {
        let text: String = row[stored: 2]
        var spec = try JobSpec(canonicalJSON: text)
        if let secrets { spec = secrets.restore(spec) }
        var facts: FileStamp?
        if let size: Int64 = row[stored: 7], let modified: Int64 = row[stored: 8] {
            facts = FileStamp(size: size, modified: modified)
        }
        let resume: String? = row[stored: 6]
        let digest: String? = row[stored: 9]
        let upload: String? = row[stored: 15]
        let place: String? = row[stored: 19]
        self.init(
            id: row[stored: 0], batch: batch, identity: row[stored: 1], spec: spec, attempts: row[stored: 4],
            askedWait: .milliseconds(row[stored: 18] as Int64), mirror: row[stored: 5],
            spentMirrors: UInt64(bitPattern: row[stored: 13] as Int64),
            resume: resume.flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) },
            upload: upload.flatMap { UploadRecord(text: $0) }, facts: facts, digest: digest.flatMap { Checksum($0) },
            validator: row[stored: 10],
            sums: (row[stored: 20] as Data?).flatMap { PieceSumList(encoded: Array($0)) },
            place: place.map { AnsweredPlace(url: $0, takesCredentials: false) },
            wasInterrupted: row[stored: 11], claimed: row[stored: 17],
            recheck: DestinationRule.Recheck(rawValue: row[stored: 12]) ?? .ask)
    }
}
