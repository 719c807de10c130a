import Foundation
import TransferNetworking

/// Small requests, 32 at a time. Memory is measured after the first ones, and after more.
struct ManyRequests {
    let url: String
    let first: Int
    let more: Int

    func run() async throws -> Report {
        let session = Session(configuration: .af.default)
        var isRight = try await send(first, session)
        let before = try OwnMemory.resident()
        isRight = try await send(more, session) && isRight
        return Report(before: before, after: try OwnMemory.resident(), isRight: isRight)
    }

    private func send(_ count: Int, _ session: Session) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for lane in 0..<32 {
                group.addTask {
                    for _ in stride(from: lane, to: count, by: 32) {
                        guard try await !session.request(url).serializingData().value.isEmpty else { return false }
                    }
                    return true
                }
            }
            return try await group.allSatisfy { $0 }
        }
    }
}
