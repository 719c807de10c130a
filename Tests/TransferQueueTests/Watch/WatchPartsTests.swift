import Testing

@testable import TransferFolders

/// The small parts of a watched folder.
@Suite struct WatchPartsTests {
    @Test func theUploadHistoryIsPrunedAfterEnoughGrowth() {
        var rule = PruneRule()
        #expect(!rule.isWorthwhile(isQuiet: false))
        #expect(rule.isWorthwhile(isQuiet: true), "once, as soon as there is time")
        let value1 = rule.begin(onlyGone: false)
        #expect(value1)
        let value2 = rule.begin(onlyGone: true)
        #expect(!value2, "one look at a time")
        rule.ended(rows: 20_000)
        #expect(!rule.isWorthwhile(isQuiet: true))
        rule.took(4_999)
        #expect(!rule.isWorthwhile(isQuiet: true))
        rule.took(1)
        #expect(rule.isWorthwhile(isQuiet: true) && !rule.isWorthwhile(isQuiet: false))
        rule.took(15_000)
        #expect(rule.isWorthwhile(isQuiet: false))
        // A second observation of missing files changes nothing.
        let value3 = rule.begin(onlyGone: true)
        #expect(value3)
        rule.ended(rows: nil)
        #expect(rule.isWorthwhile(isQuiet: false))
    }

    @Test func countsAreReportedOnceAndTheLaterTransactionWins() {
        var counts = FolderCounts(open: 3, stamp: 5, kept: 0, countsKept: true)
        let first = counts.news()
        #expect(first?.waiting == 3 && first?.kept == 0)
        let value4 = counts.news()
        #expect(value4 == nil)
        counts.note(open: 9, stamp: 4)
        #expect(counts.open == 3, "an older one")
        counts.note(open: 2, stamp: 6)
        counts.keptMore(1)
        counts.keptMore(-4)
        let second = counts.news()
        #expect(second?.waiting == 2 && second?.kept == 0)
        var uncounted = FolderCounts(open: 0, stamp: 0, kept: 0, countsKept: false)
        uncounted.keptMore(3)
        #expect(uncounted.kept == 0)
    }

    @Test func workRequestedMeanwhileIsDoneOnceMore() {
        var work = RepeatedWork()
        let value5 = work.want()
        #expect(value5)
        let value6 = work.next()
        #expect(value6)
        let value7 = work.want()
        #expect(!value7, "it is under way")
        let value8 = work.next()
        let value9 = work.next()
        #expect(value8 && !value9)
        work.ended()
        let value10 = work.want()
        #expect(value10)
    }
}
