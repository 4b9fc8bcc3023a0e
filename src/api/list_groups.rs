//! ListGroups (key 16), versions 0–5. 4: state filter (KIP-518). 5: types (KIP-848).

use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{GroupId, ListGroupsRequest, ListGroupsResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::coordinator::reply;

pub(super) fn handle(ctx: &Context<'_>, request: &ListGroupsRequest) -> Outcome<ListGroupsResponse> {
    let mut groups = Vec::new();
    ctx.services.groups.read_all(&mut |shard| {
        groups.extend(shard.list().filter(|group| is_wanted(request, group)).map(listed));
    });
    Outcome::Reply(ListGroupsResponse::default().with_groups(groups))
}

/// Filters ignore case, those of states also blanks around; an empty list wants all.
fn is_wanted(request: &ListGroupsRequest, group: &reply::ListedGroup) -> bool {
    let wants = |filter: &[StrBytes], value: &str, matches: fn(&str, &str) -> bool| {
        filter.is_empty() || filter.iter().any(|wanted| matches(wanted, value))
    };
    wants(&request.states_filter, group.state, |wanted, state| wanted.trim().eq_ignore_ascii_case(state))
        && wants(&request.types_filter, group.group_type, str::eq_ignore_ascii_case)
}

fn listed(group: reply::ListedGroup) -> ListedGroup {
    ListedGroup::default()
        .with_group_id(GroupId(text(group.group.as_str())))
        .with_protocol_type(text(&group.protocol_type))
        .with_group_state(StrBytes::from_static_str(group.state))
        .with_group_type(StrBytes::from_static_str(group.group_type))
}
