package import GRDB
package import TransferStore

extension StoredWait {
    /// A job's; `nil` when it waits for nothing.
    package init?(_ row: Row) {
        guard let wall: Int64 = row[stored: "notBefore"] else { return nil }
        self.init(wall: wall, boot: row[stored: "due"], length: row[stored: "delay"])
    }
}
