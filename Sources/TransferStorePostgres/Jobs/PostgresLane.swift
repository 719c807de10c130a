package import TransferJobs

/// Lanes as rows have them, in the columns `batch`, `origin`, `network`, `tags`.
package enum PostgresLane {
    /// - Parameter column: The first of the four columns.
    package static func lane(_ row: PostgresRow, from column: Int) -> Lane {
        lane(row, batch: row.number(column) ?? 0, from: column + 1)
    }

    /// - Parameter column: The first of the three columns behind the batch.
    package static func lane(_ row: PostgresRow, batch: Int64, from column: Int) -> Lane {
        Lane(
            batch: batch, origin: row.text(column) ?? "", network: row.text(column + 1) ?? "",
            tags: row.text(column + 2) ?? "")
    }
}
