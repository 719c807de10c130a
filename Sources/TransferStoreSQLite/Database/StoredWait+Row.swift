package import GRDB
package import TransferStore

extension StoredWait {
    /// Reads the wait of a job; `nil` when the job waits for no time.
    package init?(_ row: Row) {
        guard let wall: Int64 = row[stored: "notBefore"] else { return nil }
        self.init(wall: wall, boot: row[stored: "due"], length: row[stored: "delay"])
    }
}
