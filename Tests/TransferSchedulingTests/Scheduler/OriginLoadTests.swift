import Testing

@testable import TransferScheduling

/// The places at an origin where large files with several connections are under way.
@Suite struct OriginLoadTests {
    struct Case: Sendable {
        let load: OriginLoad
        var bounds = OriginLoad.Bounds(jobs: 10, connections: 64, kept: 2)
        var waiting = 0
        let free: Int
        let spare: Int
    }

    private static let reported = OriginLoad.Bounds(jobs: 4, connections: 4)

    @Test(arguments: [
        Case(load: OriginLoad(jobs: 0), free: 10, spare: 64),
        // One large file with sixteen connections leaves nine places, and one more as it is large.
        Case(load: OriginLoad(jobs: 1, large: 1, beside: 15), free: 10, spare: 48),
        Case(load: OriginLoad(jobs: 1, large: 1, beside: 15), waiting: 10, free: 10, spare: 0),
        Case(load: OriginLoad(jobs: 1, large: 1, beside: 15), waiting: 11, free: 10, spare: -15),
        // All places are taken, by small files and by large ones.
        Case(load: OriginLoad(jobs: 10), waiting: 1, free: 0, spare: 0),
        Case(load: OriginLoad(jobs: 10, large: 10, beside: 20), waiting: 1, free: 2, spare: 0),
        Case(load: OriginLoad(jobs: 12, large: 12, beside: 20), waiting: 1, free: 0, spare: -20),
        Case(load: OriginLoad(jobs: 12, large: 10, beside: 20), waiting: 1, free: 0, spare: -20),
        // The connections are the bound.
        Case(load: OriginLoad(jobs: 4, large: 4, beside: 60), waiting: 1, free: 0, spare: -60),
        Case(load: OriginLoad(jobs: 4, large: 4, beside: 58), waiting: 1, free: 2, spare: 0),
        Case(
            load: OriginLoad(jobs: 1, beside: 15), bounds: OriginLoad.Bounds(jobs: 8, connections: 8, kept: 2), free: 0,
            spare: -8),
        // A number from the user bounds connections.
        Case(load: OriginLoad(jobs: 1, large: 1, beside: 3), bounds: reported, free: 0, spare: 0),
        Case(load: OriginLoad(jobs: 1, large: 1, beside: 3), bounds: reported, waiting: 1, free: 0, spare: -3),
        Case(load: OriginLoad(jobs: 4, large: 4), bounds: reported, waiting: 1, free: 0, spare: 0),
    ])
    func smallFilesKeepPlacesBesideLargeFiles(_ this: Case) {
        #expect(this.load.free(in: this.bounds) == this.free)
        #expect(this.load.spare(in: this.bounds, waiting: this.waiting) == this.spare)
    }
}
