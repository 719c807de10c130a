import Testing
import TransferCore

@testable import TransferEngine

/// The bound of an exchange's further questions without progress.
@Suite struct DetourCountTests {
    @Test func retriesEndWithoutProgress() {
        var detours = DetourCount()
        for _ in 0..<DetourCount.limit {
            let isAllowed = detours.take(at: 500_000)
            #expect(isAllowed)
        }
        let isAllowed = detours.take(at: 500_000 + ProgressRule.leastBytes - 1)
        #expect(!isAllowed)
    }

    @Test func progressRestartsTheCount() {
        var detours = DetourCount()
        let isAllowed = (1...100).allSatisfy { detours.take(at: $0 * ProgressRule.leastBytes) }
        #expect(isAllowed)
    }

    @Test func aNewStartIsNoProgress() {
        var detours = DetourCount()
        var isAllowed = true
        var count = 0
        while isAllowed, count < 100 {
            count += 1
            isAllowed = detours.take(at: 500_000)
            detours.beginAnew()
        }
        #expect(count <= 5)
    }
}
