import GRDB

extension SQLiteStore {
    func publish(_ news: RunNews) throws {
        switch news {
        case .progress(let progress): try publish(progress)
        case .hostWaits(let waits): try save(hostWaits: waits)
        case .networkWaits(let waits): try save(networkWaits: waits)
        case .silentLinks(let links): try save(silentLinks: links)
        case .usage(let rows): try save(rows)
        case .pause(let pause): try save(pause)
        case .noPauses:
            try writeRelaxed(leavesPacks: true) { db in try db.execute(sql: "DELETE FROM pause") }
        case .socket(let path):
            try writeRelaxed(leavesPacks: true) { db in
                try db.execute(sql: "UPDATE process SET socket = ? WHERE id = ?", arguments: [path, process])
            }
        }
    }
}
