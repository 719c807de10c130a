import Foundation
import Testing
import TransferTestSupport

@testable import TransferQueue

/// Every known fault of servers, at each moment of each kind of transfer.
///
/// `make test` runs a part of the cells, `make check` all of them; `make matrix` writes the table.
@Suite(.ofAFolder, .serialized) struct MatrixTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let writes = environment["TRANSFER_MATRIX"] == "write"
    private static let runsAll = writes || TransferCommand.runsHeavyTests
    /// The kinds of transfer that are tested; a developer may choose one.
    private static let ways = MatrixWay.allCases.filter { way in
        guard let wanted = environment["TRANSFER_MATRIX_WAY"] else { return true }
        return way.rawValue == wanted
    }

    private static let name = environment["TRANSFER_MATRIX_CELL"]

    @Test(.timeLimit(.minutes(10))) func eachCellEndsRightOrWithAClearFailure() async throws {
        let cells = Self.ways.flatMap(MatrixCell.all)
        let run = cells.filter { cell in
            guard cell.leftOut == nil else { return false }
            return Self.name.map { cell.name.contains($0) } ?? (Self.runsAll || cell.isInShortRun)
        }
        let outcomes = try await MatrixBench.run(run)
        var table = MatrixTable()
        let committed = try? MatrixTable.committed()
        for (cell, outcome) in zip(run, outcomes) {
            #expect(outcome.faults == [], "\(cell.name): \(outcome.text)")
            table.set(cell, outcome.text)
            if !Self.writes { #expect(committed?.text(cell) == outcome.text, "\(cell.name): the table says otherwise") }
        }
        guard Self.writes, Self.name == nil, Self.ways == MatrixWay.allCases else { return }
        try table.document(cells).write(toFile: MatrixTable.path, atomically: true, encoding: .utf8)
    }

    /// The table includes the cells that are not run here, and those that are left out.
    @Test func theTableHasEveryCellThatThereIs() throws {
        guard !Self.writes else { return }
        let cells = MatrixWay.allCases.flatMap(MatrixCell.all)
        #expect(cells.count { $0.leftOut == nil } >= 400)
        #expect(Set(cells.map(\.name)).count == cells.count, "a cell's name is its own")
        let committed = try MatrixTable.committed()
        let text = try String(contentsOfFile: MatrixTable.path, encoding: .utf8)
        #expect(committed.document(cells) == text, "make matrix")
    }
}
