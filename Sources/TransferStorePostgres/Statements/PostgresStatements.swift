/// All statements that have a function.
package enum PostgresStatements {
    package static let all: [PostgresStatement] = {
        let parts: [[PostgresStatement]] = [
            PostgresAnswers.statements, PostgresBatches.statements, PostgresClaims.statements,
            PostgresCompletedJobs.statements, PostgresDatabase.statements, PostgresDependents.statements,
            PostgresEndNumbers.statements,
            PostgresEnds.statements, PostgresHoldings.statements, PostgresHookCalls.statements,
            PostgresHookMessages.statements,
            PostgresSubmissionBatcher.statements, PostgresJobFacts.statements, PostgresJobList.statements,
            PostgresLeases.statements, PostgresMerge.statements, PostgresMigration.statements,
            PostgresNeeds.statements, PostgresRunStatus.statements, PostgresNotes.statements, PostgresPace.statements,
            PostgresPermits.statements,
            PostgresReadyJobs.statements, PostgresRecords.statements, PostgresReplacedUploads.statements,
            PostgresReplication.statements, PostgresRetention.statements,
            PostgresRunNotifications.statements, PostgresStagedNeeds.statements,
            PostgresBatchImport.statements, PostgresStatus.statements, PostgresSteering.statements,
            PostgresSubmissions.statements, PostgresTags.statements, PostgresUnderWay.statements,
            PostgresUploads.statements, PostgresPendingCommands.statements, PostgresRevocations.statements,
            PostgresFolderStatus.statements, PostgresHistory.statements, PostgresHistoryFailures.statements,
            PostgresHistoryRows.statements,
            PostgresHistoryUpkeep.statements, PostgresHistoryWriter.statements, PostgresOtherNames.statements,
            PostgresWatchedRecords.statements,
        ]
        return parts.flatMap { $0 }
    }()
}
