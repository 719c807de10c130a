import FoundationEssentials
package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs

extension JobRecord {
    /// - Parameter row: The columns that ``Claims`` reads.
    package init(_ row: Row, batch: Int64, secrets: JobSecrets?) throws {
        let text: String = row[2]
        var spec = try JobSpec(canonicalJSON: text)
        if let secrets { spec = secrets.restore(spec) }
        var facts: FileStamp?
        if let size: Int64 = row[7], let modified: Int64 = row[8] { facts = FileStamp(size: size, modified: modified) }
        let resume: String? = row[6]
        let digest: String? = row[9]
        let upload: String? = row[15]
        let place: String? = row[19]
        self.init(
            id: row[0], batch: batch, identity: row[1], spec: spec, attempts: row[4],
            askedWait: .milliseconds(row[18] as Int64), mirror: row[5],
            spentMirrors: UInt64(bitPattern: row[13] as Int64),
            resume: resume.flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) },
            upload: upload.flatMap { UploadRecord(text: $0) }, facts: facts, digest: digest.flatMap { Checksum($0) },
            validator: row[10], sums: (row[20] as Data?).flatMap { PieceSumList(encoded: Array($0)) },
            place: place.map { AnsweredPlace(url: $0, takesCredentials: false) },
            wasInterrupted: row[11], claimed: row[17],
            recheck: DestinationRule.Recheck(rawValue: row[12]) ?? .ask)
    }
}
